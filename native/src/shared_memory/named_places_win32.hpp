#pragma once

#include "core/status.hpp"
#include "shared_memory/sleeping_places_win32.hpp"
#include "win32/handle.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace ipc::shared_memory {

// Where many sleep on the words of a file that any process of this user may open: semaphores with names that follow from 16
// random bytes in the file, which nobody else can read.
class NamedPlaces {
  public:
    NamedPlaces();
    NamedPlaces(const NamedPlaces&) = delete;
    NamedPlaces& operator=(const NamedPlaces&) = delete;

    // For the maker of the file.
    static void make_name(uint32_t (&name)[4]);

    // Once, before anybody sleeps. `name`: our own copy of what stands in the file.
    void set_name(const uint32_t (&name)[4]);
    // `index`: which word it is, the same in every process. `wakes_of_all`: null if all are never woken at once.
    Status add(unsigned index, const std::atomic<uint32_t>& word, std::atomic<uint32_t>* wakes_of_all);

  private:
    std::wstring prefix_;
    std::vector<win32::Handle> semaphores_;
    SleepingPlaces places_; // goes first
};

} // namespace ipc::shared_memory
