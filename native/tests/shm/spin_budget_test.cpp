#include "shared_memory/waiting.hpp"

#include <gtest/gtest.h>

using ipc::shared_memory::SpinBudget;

TEST(SpinBudget, IsAllOfTheTimeWhileSpinningFindsWhatIsWaitedFor) {
    SpinBudget budget;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(48'000, budget.next_ns(48'000));
        budget.found();
    }
}

TEST(SpinBudget, ShrinksToASixteenthWhenSpinningIsInVainAndStillProbes) {
    SpinBudget budget;
    int probes = 0;
    int64_t spent = 0;
    for (int i = 0; i < 1600; ++i) {
        const int64_t allowed = budget.next_ns(48'000);
        spent += allowed;
        if (i >= 16 && allowed == 48'000) ++probes;
        if (i >= 16 && allowed != 48'000) {
            EXPECT_EQ(3000, allowed);
        }
        budget.in_vain();
    }
    EXPECT_EQ(99, probes);
    EXPECT_LT(spent, 1600 * int64_t{48'000} / 7);
}

TEST(SpinBudget, OneFindRestoresIt) {
    SpinBudget budget;
    for (int i = 0; i < 10; ++i) {
        budget.next_ns(48'000);
        budget.in_vain();
    }
    EXPECT_EQ(3000, budget.next_ns(48'000));
    budget.found();
    EXPECT_EQ(48'000, budget.next_ns(48'000));
}
