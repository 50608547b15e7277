#pragma once

#include "segment_pair.hpp"
#include "transports/shm/ring_reader.hpp"
#include "transports/shm/ring_writer.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

// Whole records through one ring, as its tests write and read them.

using ipc::shm::RingReader;
using ipc::shm::RingWriter;

inline ipc::Status wait_for_room(RingWriter& writer, size_t length) {
    return length <= writer.longest_in_slots() ? writer.wait_for_slots(length, at_once)
                                               : writer.wait_for_data(length, at_once);
}

inline void write(RingWriter& writer, const std::vector<std::byte>& bytes, uint32_t id) {
    ASSERT_EQ(IPC_OK, wait_for_room(writer, bytes.size()));
    const bool in_slots = bytes.size() <= writer.longest_in_slots();
    std::byte* room = in_slots ? writer.slot_room() : writer.data_room(bytes.size());
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
    if (in_slots)
        writer.publish_in_slots(1, id, bytes.size());
    else
        writer.publish_in_data(1, id, bytes.size());
}

inline void expect_read(RingReader& reader, const std::vector<std::byte>& bytes, uint32_t id) {
    RingReader::Record record;
    ASSERT_EQ(IPC_OK, reader.wait_for_record(&record, at_once)) << ipc::last_error();
    ASSERT_EQ(bytes.size(), record.length);
    EXPECT_EQ(id, record.id);
    EXPECT_TRUE(bytes.empty() || std::memcmp(bytes.data(), record.bytes, bytes.size()) == 0)
        << "length " << bytes.size();
    reader.consume(record);
}
