#include "cell.hpp"

#include "failure.hpp"
#include "ipc/ipc.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace ipc::peer {
namespace {

using nlohmann::json;

constexpr const char* own_side = sizeof(void*) == 4 ? "native-x86" : "native";
constexpr size_t most_pool_bytes = size_t{1} << 30;
constexpr size_t most_ids = 10'000'000;
constexpr size_t most_message_bytes = 1'000'000'000;

// Whether a number of the line is a Value as it stands: the JSON library would cut 1.5 to 1 and turn -1 into the largest.
template <class Value>
bool fits(const json& value) {
    if constexpr (std::is_floating_point_v<Value>) {
        return value.is_number();
    } else if constexpr (std::is_integral_v<Value>) {
        if (value.is_number_unsigned()) return std::in_range<Value>(value.get<uint64_t>());
        return value.is_number_integer() && std::in_range<Value>(value.get<int64_t>());
    } else {
        return true;
    }
}

// A field of the line, or `otherwise` where it is missing or null.
template <class Value>
Value field_or(const json& object, const char* name, Value otherwise) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return otherwise;
    try {
        if (fits<Value>(*found)) return found->get<Value>();
    } catch (const json::exception&) {
        // said below
    }
    fail_bad_cell("field '" + std::string(name) + "' of the cell holds " + found->dump() +
                  ": see docs/peer-protocol.md for what it takes");
}

template <class Value>
std::optional<Value> optional_field(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return std::nullopt;
    return field_or<Value>(object, name, {});
}

template <class Value>
Value field(const json& object, const char* name) {
    if (auto value = optional_field<Value>(object, name)) return *std::move(value);
    fail_bad_cell("the cell has no field '" + std::string(name) + "': give it, see docs/peer-protocol.md");
}

const json& object_field(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_object())
        fail_bad_cell("the cell has no object '" + std::string(name) + "': give it, see docs/peer-protocol.md");
    return *found;
}

Role parse_role(const std::string& role) {
    if (role == "server") return Role::server;
    if (role == "client") return Role::client;
    if (role == "alone") return Role::alone;
    fail_bad_cell("there is no role '" + role + "': use server, client or alone");
}

Order parse_order(const std::string& order) {
    if (order == "random") return Order::random;
    if (order == "memory") return Order::memory;
    fail_bad_cell("there is no order '" + order + "': use random or memory");
}

TableQuestion parse_table(const json& table) {
    TableQuestion question;
    question.file = field<std::string>(table, "file");
    const auto separator = field<std::string>(table, "separator");
    if (separator.size() != 1)
        fail_bad_cell("the table's separator '" + separator + "' is not one ASCII character: give one, such as ;");
    question.separator = separator[0];
    question.header = optional_field<std::vector<std::string>>(table, "header");
    question.ids = field<std::vector<std::string>>(table, "ids");
    question.fields = field<std::vector<std::string>>(table, "fields");
    return question;
}

Workload parse_workload(const json& object) {
    Workload workload;
    workload.id = field<std::string>(object, "id");
    workload.ids = field_or<uint32_t>(object, "n", 0);
    workload.request_bytes = field_or<uint32_t>(object, "request_bytes", 0);
    workload.reply_bytes = field_or<uint32_t>(object, "reply_bytes", 0);
    workload.bucket = field_or<uint32_t>(object, "bucket", 1);
    if (workload.ids > most_ids)
        fail_bad_cell("workload '" + workload.id + "' has n " + std::to_string(workload.ids) + ": give 0 to " +
                      std::to_string(most_ids));
    if (std::max(workload.request_bytes, workload.reply_bytes) > most_message_bytes)
        fail_bad_cell("workload '" + workload.id + "' has request_bytes " + std::to_string(workload.request_bytes) +
                      " and reply_bytes " + std::to_string(workload.reply_bytes) + ": give 0 to " +
                      std::to_string(most_message_bytes));
    if (workload.bucket < 1 || workload.bucket > 1'000'000)
        fail_bad_cell("workload '" + workload.id + "' has buckets of " + std::to_string(workload.bucket) +
                      " objects: give 1 to 1000000");
    workload.rate = field_or<double>(object, "rate", 0);
    if (workload.rate != 0 && !(workload.rate >= 1 && workload.rate <= 1e9))
        fail_bad_cell("workload '" + workload.id + "' has the rate " + object["rate"].dump() +
                      ": give 1 to 1000000000 a second, or 0 for as fast as they go");
    workload.text = field_or<std::vector<std::string>>(object, "text", {});
    if (!workload.text.empty() && workload.text.size() != 2)
        fail_bad_cell("workload '" + workload.id + "' has " + std::to_string(workload.text.size()) +
                      " texts: give two, question and answer");
    if (object.contains("table") && !object["table"].is_null())
        workload.table = parse_table(object_field(object, "table"));
    return workload;
}

void check_bounds(const Cell& cell) {
    if (cell.role != Role::alone && cell.address.empty())
        fail_bad_cell("the cell has no address: give one such as unix://lab-1");
    if (!(cell.warmup_seconds >= 0 && cell.warmup_seconds <= 3600 && cell.seconds >= 0 && cell.seconds <= 86'400))
        fail_bad_cell(
            "the cell's seconds are out of bounds: give warmup_seconds of 0 to 3600 and seconds of 0 to 86400");
    if (cell.count == 0) fail_bad_cell("the cell counts 0 operations: give a count of 1 or more, or null");
    if (cell.threads < 1 || cell.threads > most_clients)
        fail_bad_cell("the cell has " + std::to_string(cell.threads) + " threads: give 1 to " +
                      std::to_string(most_clients));
    if (cell.clients < 1 || cell.clients > most_clients || (uint64_t{cell.client} + 1) * cell.threads > cell.clients)
        fail_bad_cell("the cell's client " + std::to_string(cell.client) + " of " + std::to_string(cell.clients) +
                      " does not exist: give 1 to " + std::to_string(most_clients) + " clients, numbered from 0");
    if (cell.portion < 1 || cell.portion > 1'000'000 || cell.batch < 1 || cell.batch > 65'536)
        fail_bad_cell("the cell's portion or batch is out of bounds: give 1 to 1000000 and 1 to 65536");
    if (cell.in_flight < 1 || cell.in_flight > IPC_MOST_IN_FLIGHT)
        fail_bad_cell("the cell has " + std::to_string(cell.in_flight) + " calls in flight: give 1 to " +
                      std::to_string(IPC_MOST_IN_FLIGHT));
    if (cell.pool_bytes > most_pool_bytes)
        fail_bad_cell("the cell has a pool of " + std::to_string(cell.pool_bytes) + " bytes: give at most " +
                      std::to_string(most_pool_bytes));
    if (cell.pause_us > 1'000'000)
        fail_bad_cell("the cell's client pauses " + std::to_string(cell.pause_us) + " us: give 0 to 1000000");
    if (cell.role != Role::server && !cell.count && cell.seconds == 0)
        fail_bad_cell("the cell has neither seconds nor count: give one");
}

} // namespace

Cell parse_cell(const std::string& line) {
    const json object = json::parse(line, nullptr, false);
    if (!object.is_object())
        fail_bad_cell(
            "the first line on standard input is not a JSON object: write the cell there, see docs/peer-protocol.md");
    Cell cell;
    cell.role = parse_role(field<std::string>(object, "role"));
    if (const auto side = field_or<std::string>(object, "side", own_side); side != own_side)
        fail_bad_cell("this peer is side " + std::string(own_side) + " and was asked to be '" + side +
                      "': start that side's own peer");
    cell.address = field_or<std::string>(object, "address", "");
    cell.codec = field<std::string>(object, "codec");
    cell.scenario = field<std::string>(object, "scenario");
    cell.workload = parse_workload(object_field(object, "workload"));
    cell.seed = field<uint64_t>(object, "seed");
    cell.cpu = optional_field<int>(object, "cpu");
    cell.warmup_seconds = field_or<double>(object, "warmup_seconds", 0);
    cell.seconds = field_or<double>(object, "seconds", 0);
    cell.count = optional_field<uint64_t>(object, "count");
    cell.samples = field_or<std::string>(object, "samples", "");
    cell.client = field_or<uint32_t>(object, "client", 0);
    cell.clients = field_or<uint32_t>(object, "clients", 1);
    cell.portion = field_or<uint32_t>(object, "portion", 1000);
    cell.batch = field_or<uint32_t>(object, "batch", 64);
    cell.threads = field_or<uint32_t>(object, "threads", 1);
    cell.in_flight = field_or<uint32_t>(object, "in_flight", 1);
    cell.pause_us = field_or<uint32_t>(object, "pause_us", 0);
    cell.pool_bytes = field_or<uint32_t>(object, "pool_bytes", 0);
    cell.order = parse_order(field_or<std::string>(object, "order", "random"));
    check_bounds(cell);
    return cell;
}

std::string Cell::transport_kind() const {
    const std::string transport = address.substr(0, address.find("://"));
    const char* const entry = ipc_transport_describe(transport.c_str());
    return entry ? nlohmann::json::parse(entry).value("kind", "") : "";
}

} // namespace ipc::peer
