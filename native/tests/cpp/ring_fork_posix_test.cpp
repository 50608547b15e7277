// ring.hpp between two processes, over pages that both map.
#include <gtest/gtest.h>
#include <ipc/ring.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(SpscRing, MessagesPassBetweenProcesses) {
    using Ring = ipc::SpscRing<uint64_t>;
    constexpr size_t slots = 64, bytes = Ring::bytes(slots);
    constexpr uint64_t count = 100'000;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, memory);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(60);
        Ring::Writer writer(memory, slots);
        for (uint64_t i = 0; i < count;) i += writer.try_push(i * i);
        _exit(0);
    }
    Ring::Reader reader(memory, slots);
    uint64_t wrong = 0;
    bool ended = false;
    for (uint64_t i = 0; i < count && !ended;) {
        uint64_t number;
        if (reader.try_pop(number))
            wrong += number != i * i, ++i;
        else if (int status; i % 64 == 0 && waitpid(child, &status, WNOHANG) == child)
            ended = reader.next() == nullptr;
    }
    EXPECT_FALSE(ended) << "the writer ended before its last message";
    EXPECT_EQ(0u, wrong);
    waitpid(child, nullptr, 0);
    munmap(memory, bytes);
}
