// Every order of steps of few writers and readers on few blocks: none lost, none doubled, none torn, order kept, nobody left
// asleep; and the same with a death between any two steps.
#include "explorer.hpp"

#include <gtest/gtest.h>

namespace ipc::ring::test {
namespace {

// Under a sanitizer the larger plans would take minutes and show nothing more: the explorer has one thread.
#if defined(IPC_ADDRESS_SANITIZER) || defined(IPC_THREAD_SANITIZER)
constexpr bool only_small_plans = true;
#else
constexpr bool only_small_plans = false;
#endif

constexpr uint64_t end_of_turns = uint64_t{1} << 48;

void expect_sound(const Plan& plan) {
    if (only_small_plans && plan.writers + plan.readers > 2) GTEST_SKIP() << "too slow under a sanitizer";
    Explorer explorer(plan);
    EXPECT_EQ(explorer.run(), "");
    EXPECT_GT(explorer.rests(), 0u);
    ::testing::Test::RecordProperty("states", std::to_string(explorer.states()));
}

TEST(FifoModel, OneAndOne) {
    expect_sound(
        {.writers = 1, .readers = 1, .blocks = 2, .each_writes = 5, .each_reads = 5, .first = end_of_turns - 3});
}
TEST(FifoModel, TwoWritersOneReader) {
    expect_sound({.writers = 2, .readers = 1, .blocks = 2, .each_writes = 1, .each_reads = 2});
}
TEST(FifoModel, OneWriterTwoReaders) {
    expect_sound({.writers = 1, .readers = 2, .blocks = 2, .each_writes = 2, .each_reads = 1, .first = UINT64_MAX});
}
TEST(FifoModel, OneOfTwoDies) {
    expect_sound({.writers = 1, .readers = 1, .blocks = 2, .each_writes = 3, .each_reads = 3, .deaths = true});
}
TEST(LifoModel, OneAndOne) {
    expect_sound({.lifo = true, .writers = 1, .readers = 1, .blocks = 2, .each_writes = 3, .each_reads = 3});
}
TEST(LifoModel, TwoWriters) {
    expect_sound({.lifo = true, .writers = 2, .readers = 0, .blocks = 2, .each_writes = 1, .each_reads = 0});
}
TEST(LifoModel, OneWriterTwoReadersOneMessage) {
    expect_sound({.lifo = true, .writers = 1, .readers = 2, .blocks = 2, .each_writes = 1, .each_reads = 1});
}
TEST(LifoModel, OneOfTwoDies) {
    expect_sound(
        {.lifo = true, .writers = 1, .readers = 1, .blocks = 2, .each_writes = 2, .each_reads = 2, .deaths = true});
}

// Without parking, whose orders the tests above try, there are fewer orders for more clients.
TEST(FifoModel, CursorsOfThreeOneOfWhichDies) {
    expect_sound(
        {.writers = 2, .readers = 1, .blocks = 2, .each_writes = 1, .each_reads = 2, .deaths = true, .parking = false});
    expect_sound(
        {.writers = 1, .readers = 2, .blocks = 2, .each_writes = 2, .each_reads = 1, .deaths = true, .parking = false});
}
TEST(LifoModel, ListsOfThree) {
    expect_sound(
        {.lifo = true, .writers = 2, .readers = 1, .blocks = 2, .each_writes = 1, .each_reads = 2, .parking = false});
    expect_sound(
        {.lifo = true, .writers = 1, .readers = 2, .blocks = 2, .each_writes = 2, .each_reads = 1, .parking = false});
}
TEST(LifoModel, OneBlockWhoseOwnerDies) {
    expect_sound({.lifo = true,
                  .writers = 2,
                  .readers = 1,
                  .blocks = 1,
                  .each_writes = 1,
                  .each_reads = 2,
                  .deaths = true,
                  .parking = false});
    expect_sound(
        {.lifo = true, .writers = 2, .readers = 0, .blocks = 1, .each_writes = 1, .each_reads = 0, .deaths = true});
}
TEST(LifoModel, ListsOfThreeOneOfWhichDies) {
    expect_sound({.lifo = true,
                  .writers = 2,
                  .readers = 1,
                  .blocks = 2,
                  .each_writes = 1,
                  .each_reads = 2,
                  .deaths = true,
                  .parking = false});
}

// A minute and a gigabyte (11.6 million states); for whoever changes the algorithm, with --gtest_also_run_disabled_tests.
TEST(FifoModel, DISABLED_CursorsOfTwoWritersAndTwoReaders) {
    expect_sound({.writers = 2,
                  .readers = 2,
                  .blocks = 2,
                  .each_writes = 1,
                  .each_reads = 1,
                  .first = UINT64_MAX,
                  .parking = false});
}

} // namespace
} // namespace ipc::ring::test
