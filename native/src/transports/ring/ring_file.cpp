#include "transports/ring/ring_file.hpp"

namespace ipc::ring {

Status RingFile::sizes_of(const Address& address, uint32_t* block_count, uint32_t* block_bytes) {
    const uint64_t count = address.option_count("blocks");
    const uint64_t bytes = address.option_size("block");
    if (count < 2 || count > most_blocks || (count & (count - 1)) != 0)
        return fail(IPC_BAD_OPTION, "blocks=%s in '%s': the number of blocks must be a power of two from 2 to %u",
                    address.option("blocks").c_str(), address.text().c_str(), most_blocks);
    if (bytes > largest_block)
        return fail(IPC_BAD_OPTION, "block=%s in '%s': a block has at most 1G", address.option("block").c_str(),
                    address.text().c_str());
    *block_count = static_cast<uint32_t>(count);
    *block_bytes = static_cast<uint32_t>(bytes);
    if (file_bytes(*block_count, *block_bytes) > SIZE_MAX / 2)
        return fail(IPC_BAD_OPTION, "blocks=%s times block=%s in '%s' is more than a process can map: ask for less",
                    address.option("blocks").c_str(), address.option("block").c_str(), address.text().c_str());
    return IPC_OK;
}

bool RingFile::read_header() {
    // Copied once: others can change the words while we check them.
    const auto* words = reinterpret_cast<const volatile uint32_t*>(memory_);
    const uint32_t found_version = words[1];
    order_ = static_cast<Order>(words[2]);
    block_count_ = words[3];
    block_bytes_ = words[4];
    return found_version == version && (order_ == Order::fifo || order_ == Order::lifo) &&
           file_bytes(block_count_, block_bytes_) == bytes_;
}

Status RingFile::take_number() {
    for (uint32_t number = 1; number <= most_owners; ++number) {
        switch (sign(number)) {
        case Signed::yes:
            number_ = number;
            return IPC_OK;
        case Signed::failed:
            return IPC_SYSTEM;
        case Signed::taken:
            break;
        }
    }
    return fail(IPC_SYSTEM, "the ring %s is open %u times already: share handles between threads",
                name_.address.c_str(), most_owners);
}

bool RingFile::is_alive(uint32_t number) const {
    // Our own lock is none to ourselves. Nobody has the number 0.
    return number == number_ || (number != 0 && is_signed(number));
}

} // namespace ipc::ring
