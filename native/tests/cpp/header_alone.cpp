// Nothing before it, and no warning in it.
#include <ipc/awaitable.hpp>
#include <ipc/hosting.hpp>
#include <ipc/ipc.hpp>

static_assert(std::is_nothrow_move_constructible_v<ipc::Channel> && !std::is_copy_constructible_v<ipc::Channel>);
static_assert(std::is_nothrow_move_assignable_v<ipc::Listener> && !std::is_copy_constructible_v<ipc::Listener>);
static_assert(std::is_nothrow_move_assignable_v<ipc::Queue> && !std::is_copy_constructible_v<ipc::Queue>);
static_assert(std::is_nothrow_move_assignable_v<ipc::Publisher> && !std::is_copy_constructible_v<ipc::Publisher>);
static_assert(std::is_nothrow_move_assignable_v<ipc::Subscriber> && !std::is_copy_constructible_v<ipc::Subscriber>);
