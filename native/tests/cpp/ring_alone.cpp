// ring.hpp by itself: nothing before it, no library behind it, no exceptions, and no warning in it.
#include <ipc/ring.hpp>

namespace {

struct Tick {
    std::uint64_t time;
    double price;
};
using Ticks = ipc::SpscRing<Tick>;

alignas(64) std::byte memory[Ticks::bytes(4)];
static_assert(sizeof memory == 128 + 4 * 64);

} // namespace

int main() {
    Ticks::Writer writer(memory, 4);
    Ticks::Reader reader(memory, 4);
    for (std::uint64_t lap = 0; lap < 10; ++lap) {
        for (std::uint64_t i = 0; i < 4; ++i)
            if (!writer.try_push({lap * 4 + i, 0.5})) return 1;
        if (writer.room() != nullptr) return 2;
        for (std::uint64_t i = 0; i < 4; ++i) {
            const Tick* tick = reader.next();
            if (tick == nullptr || tick->time != lap * 4 + i || tick->price < 0.4) return 3;
            reader.release();
        }
        if (reader.next() != nullptr) return 4;
    }
}
