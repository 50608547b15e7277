#pragma once

#include "cell.hpp"
#include "control.hpp"

namespace ipc::peer {

// Each plays one role of one scenario to its end and has by then told the runner everything; failures are thrown as
// Failure. Whoever adds a scenario adds it to registry.json, here and in main.cpp.

void call_raw_client(const Cell& cell, Control& control);
void call_raw_server(const Cell& cell, Control& control);

// Answers the client of call by a handler.
void handler_server(const Cell& cell, Control& control);

// ui-idle, ui-busy, ui-blocked; their server is call_raw_server. Only Windows has what they are about.
void ui_client(const Cell& cell, Control& control);

// Any codec but raw; also workloads `ping` and `table`.
void call_objects_client(const Cell& cell, Control& control);
void call_objects_server(const Cell& cell, Control& control);

// Objects collected into buckets, each of which is one call. Any codec.
void batch_client(const Cell& cell, Control& control);
void batch_server(const Cell& cell, Control& control);

// As call, with several calls in flight; their servers are those of call. Any codec.
void pipelined_client(const Cell& cell, Control& control);

// Raw calls, so many a second, timed from when each was due; their server is call_raw_server.
void paced_client(const Cell& cell, Control& control);

// Raw calls, each with messages of its own out of many.
void shuffled_client(const Cell& cell, Control& control);
void shuffled_server(const Cell& cell, Control& control);

// Raw calls, each over a connection of its own.
void reconnect_client(const Cell& cell, Control& control);
void reconnect_server(const Cell& cell, Control& control);

// One such call, told at once; its server is call_raw_server.
void startup_client(const Cell& cell, Control& control);

void push_client(const Cell& cell, Control& control);
void push_server(const Cell& cell, Control& control);

// oneway, oneway-batch and fanin: clients send, the server receives and measures.
void one_way_client(const Cell& cell, Control& control);
void one_way_server(const Cell& cell, Control& control);

// The server publishes; the clients receive and measure.
void broadcast_client(const Cell& cell, Control& control);
void broadcast_server(const Cell& cell, Control& control);

// Alone, without IPC.
void serialize(const Cell& cell, Control& control);

} // namespace ipc::peer
