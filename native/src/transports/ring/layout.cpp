#include "transports/ring/layout.hpp"

#include "transports/ring/lifo.hpp"
#include "transports/ring/memory.hpp"

#include <new>

namespace ipc::ring {

void format(std::byte* memory, Order order, uint32_t block_count, uint32_t block_bytes, uint64_t first) {
    auto* header = new (memory) Header{};
    header->magic = magic;
    header->version = version;
    header->order = static_cast<uint32_t>(order);
    header->block_count = block_count;
    header->block_bytes = block_bytes;
    for (Line64& cursor : header->cursors) cursor.word.store(first, std::memory_order_relaxed);
    const Memory blocks(memory, block_count, block_bytes);
    // The position of each block's next message, which is its turn; in lifo order any number would do.
    for (uint64_t turn = first; turn != first + block_count; ++turn) {
        const auto index = static_cast<uint32_t>(turn & (block_count - 1));
        blocks.block(index).state.store(state_word(turn, 0, Phase::free), std::memory_order_relaxed);
        blocks.block(index).next.store(index + 1 < block_count ? index + 2 : 0, std::memory_order_relaxed);
    }
    header->heads[static_cast<unsigned>(List::free)].word.store(head_word(0, 1, 0, ListStep::none),
                                                                std::memory_order_relaxed);
    header->heads[static_cast<unsigned>(List::full)].word.store(head_word(0, 0, 0, ListStep::none),
                                                                std::memory_order_relaxed);
}

} // namespace ipc::ring
