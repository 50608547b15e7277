#include "verbs.hpp"

#include <vector>

namespace puppet {
namespace {

std::string send(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto bytes = bytes_of(payload(command));
    require(ipc_send(channel, bytes.data(), bytes.size(), command.timeout()));
    return "";
}

std::string receive(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    std::vector<uint8_t> buffer(command.size());
    auto message = expected_payload(command);
    require(ipc_receive(channel, buffer.data(), buffer.size(), &message.length, command.timeout()));
    require_same(difference(message, buffer.data(), message.length));
    return std::to_string(message.length);
}

std::string reserve(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto length = command.size();
    auto message = payload(command);
    void* room;
    require(ipc_reserve(channel, length, &room, command.timeout()));
    if (message.length > length) throw Wrong("the message is longer than the room asked for");
    fill(message, room);
    return "";
}

std::string commit(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto length = command.size();
    require(ipc_commit(channel, length, command.timeout()));
    return "";
}

std::string cancel(Handles& handles, Command& command) {
    require(ipc_cancel(handles.channel(command.word())));
    return "";
}

std::string peek(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto message = expected_payload(command);
    const void* bytes;
    require(ipc_peek(channel, &bytes, &message.length, command.timeout()));
    require_same(difference(message, bytes, message.length));
    return std::to_string(message.length);
}

std::string release(Handles& handles, Command& command) {
    require(ipc_release(handles.channel(command.word())));
    return "";
}

// The arguments that send-many and receive-many share.
struct Series {
    Series(Handles& handles, Command& command)
        : channel(handles.channel(command.word())), count(command.number()), most(command.size()),
          seed(command.number()), timeout_ms(command.timeout()) {}

    ipc_channel* channel;
    uint64_t count;
    size_t most;
    uint64_t seed;
    int32_t timeout_ms;
    bool loan = false;
};

void send_one(const Series& series, const Payload& message, std::vector<uint8_t>& buffer) {
    if (!series.loan) {
        fill(message, buffer.data());
        require(ipc_send(series.channel, buffer.data(), message.length, series.timeout_ms));
        return;
    }
    void* room;
    require(ipc_reserve(series.channel, message.length, &room, series.timeout_ms));
    fill(message, room);
    require(ipc_commit(series.channel, message.length, series.timeout_ms));
}

void receive_one(const Series& series, const Payload& message, std::vector<uint8_t>& buffer) {
    size_t length;
    std::string wrong;
    if (series.loan) {
        const void* bytes;
        require(ipc_peek(series.channel, &bytes, &length, series.timeout_ms));
        wrong = difference(message, bytes, length);
        require(ipc_release(series.channel));
    } else {
        require(ipc_receive(series.channel, buffer.data(), buffer.size(), &length, series.timeout_ms));
        wrong = difference(message, buffer.data(), length);
    }
    if (!wrong.empty()) throw Wrong("message " + std::to_string(message.sequence) + ": " + wrong);
}

using Step = void (*)(const Series& series, const Payload& message, std::vector<uint8_t>& buffer);

template <Step step>
std::string many(Handles& handles, Command& command) {
    Series series(handles, command);
    series.loan = command.loan();
    std::vector<uint8_t> buffer(series.most);
    size_t bytes = 0;
    for (uint64_t i = 1; i <= series.count; i++) {
        auto message = payload_of_series(series.seed, i, series.most);
        step(series, message, buffer);
        bytes += message.length;
    }
    return std::to_string(bytes);
}

std::string send_batches(Handles& handles, Command& command) {
    const Series series(handles, command);
    size_t bytes = 0;
    for (uint64_t i = 1; i <= series.count;) {
        std::vector<uint8_t> batch;
        std::vector<uint32_t> lengths;
        for (; i <= series.count && lengths.size() < 64; ++i) {
            const auto message = bytes_of(payload_of_series(series.seed, i, series.most));
            batch.insert(batch.end(), message.begin(), message.end());
            lengths.push_back(static_cast<uint32_t>(message.size()));
        }
        size_t sent = 0;
        require(ipc_send_batch(series.channel, batch.data(), lengths.data(), lengths.size(), &sent, series.timeout_ms));
        if (sent != lengths.size()) throw Wrong("a batch was not sent whole, and no status says so");
        bytes += batch.size();
    }
    return std::to_string(bytes);
}

std::string receive_batches(Handles& handles, Command& command) {
    const Series series(handles, command);
    std::vector<uint8_t> buffer(50 * series.most);
    uint32_t lengths[50];
    size_t bytes = 0;
    for (uint64_t i = 1; i <= series.count;) {
        size_t count = 0;
        require(
            ipc_receive_batch(series.channel, buffer.data(), buffer.size(), lengths, 50, &count, series.timeout_ms));
        if (count == 0 || count > 50 || i + count - 1 > series.count)
            throw Wrong("a batch of a wrong number of messages");
        const uint8_t* at = buffer.data();
        for (size_t j = 0; j < count; ++j, ++i) {
            const std::string wrong = difference(payload_of_series(series.seed, i, series.most), at, lengths[j]);
            if (!wrong.empty()) throw Wrong("message " + std::to_string(i) + ": " + wrong);
            at += lengths[j];
        }
        bytes += static_cast<size_t>(at - buffer.data());
    }
    return std::to_string(bytes);
}

} // namespace

void add_message_verbs(Verbs* verbs) {
    verbs->insert({{"send", send},
                   {"receive", receive},
                   {"reserve", reserve},
                   {"commit", commit},
                   {"cancel", cancel},
                   {"peek", peek},
                   {"release", release},
                   {"send-many", many<send_one>},
                   {"receive-many", many<receive_one>},
                   {"send-batches", send_batches},
                   {"receive-batches", receive_batches}});
}

} // namespace puppet
