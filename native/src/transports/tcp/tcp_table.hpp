#pragma once

#include "transports/tcp/tcp_end.hpp"

#include <functional>
#include <memory>
#include <string>

namespace ipc {

enum class TcpState { established, close_wait, listening, other };

// Whose one end of a connection is: nobody's when no process has it any more, or none has it yet.
enum class Whose { nobody, ours, others };

// One line of the system's table of TCP sockets.
struct TcpRow {
    TcpEnd local;
    TcpEnd remote;
    TcpState state = TcpState::other;
    unsigned long owner = 0; // a user's number; on Windows a process's
    bool owned = false;      // some process has it
    bool timed = false;      // a timer of the system's runs for it: that of keep-alive, when nothing is under way
};

// The whole table. It is no snapshot: a socket can be missed while others come and go.
void for_each_tcp_row(const std::function<void(const TcpRow&)>& visit);

enum class Answer { found, absent, unknown };

// Asks the system for one row instead of looking through them all; any number of threads may ask. Keeps a descriptor, so that whoever
// has one is not at a loss when there are no more.
class SocketQuery {
  public:
    SocketQuery();
    ~SocketQuery();
    SocketQuery(const SocketQuery&) = delete;
    SocketQuery& operator=(const SocketQuery&) = delete;

    // The socket that has these ends, or else the one that listens at `local`. `unknown`: the system does not answer such questions.
    // Costs some microseconds.
    Answer ask(const TcpEnd& local, const TcpEnd& remote, TcpRow* row);
    // False once the answer has been `unknown`.
    bool answers() const;
    // The errno of the shortage for which it has no descriptor; else 0.
    int shortage() const;

  private:
    struct System;
    const std::unique_ptr<System> system_;
};

// Whose the row's socket is, and the words for it with an error message: "user 1000".
Whose whose(const TcpRow& row);
std::string owner_text(const TcpRow& row);

// Whether the other end has closed or reset the connection and sent nothing before; does not wait.
bool has_ended(SocketNumber connection);

} // namespace ipc
