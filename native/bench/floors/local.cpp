#include "ping_pong.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace floors {

namespace {

volatile char kept; // a byte of each copy, or the copies would be dropped

} // namespace

double memcpy_bytes_per_s(const Setup& setup) {
    pin_to(setup.client_cpu);
    constexpr size_t size = 1 << 20;
    std::vector<char> from(size, 'f'), to(size, 't');
    std::vector<double> rates;
    const int64_t end = now_ns() + static_cast<int64_t>(setup.seconds * 1e9);
    while (now_ns() < end || rates.size() < 10) {
        int64_t before = now_ns();
        std::memcpy(to.data(), from.data(), size);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        kept = to[rates.size() % size];
        rates.push_back(static_cast<double>(size) * 1e9 / static_cast<double>(std::max<int64_t>(1, now_ns() - before)));
    }
    std::nth_element(rates.begin(), rates.begin() + static_cast<long>(rates.size() / 2), rates.end());
    return rates[rates.size() / 2];
}

double clock_ns() {
    constexpr int reads = 100'000;
    int64_t before = now_ns();
    for (int i = 0; i < reads; ++i) now_ns();
    return static_cast<double>(now_ns() - before) / reads;
}

} // namespace floors
