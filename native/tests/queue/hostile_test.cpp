// Files that are no queues, and memory that somebody damaged.
#include "../core/stranger.hpp"
#include "queue_under_test.hpp"

#include <fstream>

namespace ipc {
namespace {

using test::put;
using test::QueueName;
using test::refused;
using test::take;

Status open_status(const QueueName& name) {
    std::unique_ptr<MessageQueue> queue;
    return test::open_queue(name.address(), &queue);
}

TEST(QueueFile, IsRefusedWhenItIsNone) {
    const QueueName made, truncated, longer, magic, version, size, empty, text, link, folder, fifo, open_to_others;
    for (const QueueName* name : {&truncated, &longer, &magic, &version, &size, &open_to_others})
        name->open("size=64k");
    made.open();
    EXPECT_EQ(truncate(truncated.path().c_str(), 4096 + 64 * 1024 - 1), 0);
    EXPECT_EQ(truncate(longer.path().c_str(), 4096 + 64 * 1024 + 4096), 0);
    const auto damage = [](const QueueName& name, off_t at) {
        std::fstream file(name.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(at).put('\x7F');
    };
    damage(magic, 0);
    damage(version, 4);
    damage(size, 8);
    std::ofstream(empty.path()).close();
    std::ofstream(text.path()) << "this is not a queue but a text of some length, really";
    EXPECT_EQ(chmod(empty.path().c_str(), 0600), 0);
    EXPECT_EQ(chmod(text.path().c_str(), 0600), 0);
    EXPECT_EQ(symlink(made.path().c_str(), link.path().c_str()), 0);
    EXPECT_EQ(mkdir(folder.path().c_str(), 0700), 0);
    EXPECT_EQ(mkfifo(fifo.path().c_str(), 0600), 0);
    EXPECT_EQ(chmod(open_to_others.path().c_str(), 0644), 0);
    for (const QueueName* name : {&truncated, &longer, &magic, &version, &size, &empty, &text, &link, &folder, &fifo})
        EXPECT_EQ(open_status(*name), IPC_NOT_OUR_PROTOCOL) << last_error();
    EXPECT_EQ(open_status(open_to_others), IPC_NO_PERMISSION) << last_error();
    rmdir(folder.path().c_str());
    // What is damaged can be removed, and made anew.
    EXPECT_EQ(test::remove_queue(truncated.address()), IPC_OK);
    EXPECT_EQ(open_status(truncated), IPC_OK);
}

TEST(QueueFile, IsRefusedInAFolderThatIsNotSafe) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can take another user's part";
    const auto refused_there = [] {
        std::unique_ptr<MessageQueue> queue;
        return test::open_queue("queue://a", &queue) == IPC_NO_PERMISSION;
    };
    EXPECT_TRUE(test::as_stranger([&] { return mkdir(QueueName::folder().c_str(), 0755) == 0 && refused_there(); }));
    EXPECT_TRUE(
        test::as_stranger([&] { return symlink("/tmp", QueueName::folder().c_str()) == 0 && refused_there(); }));
    EXPECT_TRUE(test::as_stranger([&] {
        std::unique_ptr<MessageQueue> queue;
        const bool good = test::open_queue("queue://a", &queue) == IPC_OK;
        return test::remove_queue("queue://a") == IPC_OK && good;
    }));
}

// Every word of the header and of the first record, with many wrong values: a status, never a crash, never a wait without end.
TEST(QueueMemory, DamageIsAStatus) {
    using Word = std::atomic<uint32_t>;
    const QueueName name;
    auto file = name.open_file();
    auto queue = name.open();
    queue::Header& header = file->header();
    const auto reset = [&] {
        for (Word* word : {&header.writer_lock, &header.head_seen, &header.tail, &header.readers_parked,
                           &header.reader_lock, &header.tail_seen, &header.head, &header.writers_parked})
            word->store(0);
    };
    const auto exercise = [&] {
        for (int i = 0; i < 20; ++i) {
            const Status status = put(*queue, test::pattern(100), 0);
            EXPECT_TRUE(status == IPC_OK || status == IPC_TIMED_OUT || status == IPC_NOT_OUR_PROTOCOL) << status;
            (void)take(*queue);
        }
    };
    const uint32_t values[] = {1,     4,     7,     8,          64,         108,        1000,
                               65528, 65536, 65544, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF};
    for (Word* word : {&header.head_seen, &header.tail, &header.readers_parked, &header.tail_seen, &header.head,
                       &header.writers_parked})
        for (const uint32_t value : values) {
            reset();
            ASSERT_EQ(put(*queue, "good"), IPC_OK);
            word->store(value);
            exercise();
        }
    for (const size_t at : {size_t{0}, size_t{4}})
        for (const uint32_t value : values) {
            reset();
            ASSERT_EQ(put(*queue, "good"), IPC_OK);
            std::memcpy(file->data() + at, &value, sizeof value);
            if (at == 0 && value <= 8) continue; // another length of the same record: nobody can tell
            EXPECT_EQ(take(*queue), refused(IPC_NOT_OUR_PROTOCOL)) << at << " " << value;
            EXPECT_EQ(take(*queue), refused(IPC_NOT_OUR_PROTOCOL)) << "damage stays";
        }
}

TEST(QueueMemory, ALockOfNobodyIsTakenOver) {
    const QueueName name;
    auto file = name.open_file();
    auto queue = name.open();
    for (const uint32_t word : {1u, 2000u, 0x7FFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFEu}) {
        file->header().writer_lock.store(word);
        file->header().reader_lock.store(word);
        ASSERT_EQ(put(*queue, "through"), IPC_OK) << word;
        EXPECT_EQ(take(*queue, test::patience), "through") << word;
    }
}

} // namespace
} // namespace ipc
