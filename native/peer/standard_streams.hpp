#pragma once

#include <cstddef>
#include <string_view>

namespace ipc::peer {

// Standard input, read by one thread and given up by another. System halves: standard_streams_*.cpp.
class StandardInput {
  public:
    StandardInput(); // throws a Failure when the system has nothing left to wait with
    ~StandardInput();
    StandardInput(const StandardInput&) = delete;
    StandardInput& operator=(const StandardInput&) = delete;

    // Waits for bytes and gives at most `capacity` of them; 0 at the end of the input, or once stop() was called.
    size_t read(char* bytes, size_t capacity);
    // From any thread: the reader comes back soon, now or whenever it reads again.
    void stop();

  private:
#if defined(_WIN32)
    struct Reader;
    Reader* reader_;
#else
    int stop_event_; // an eventfd
#endif
};

// Writes all of it at once. A reader that is gone is no failure: the end of standard input tells.
void write_output(std::string_view text);
void write_error(std::string_view text);

} // namespace ipc::peer
