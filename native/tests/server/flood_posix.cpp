// Hundreds of bad clients against a server in a process of its own: the good ones among them are served as if they were alone, and
// nothing of the bad ones stays. IPC_FLOOD_CLIENTS=10000 makes them more; IPC_FLOOD_ADDRESS and IPC_FLOOD_PROCESS name a server of
// somebody else's, of whatever language, that answers calls.
#include "bad_clients_posix.hpp"
#include "support.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/resource.h>
#include <sys/wait.h>

namespace ipc::test {
namespace {

long environment(const char* name, long otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::atol(text) : otherwise;
}

// A server that echoes, in a process that ends with this object.
class ServerProcess {
  public:
    explicit ServerProcess(const std::string& address, rlim_t most_files = 0) {
        if (const char* other = std::getenv("IPC_FLOOD_ADDRESS"); other != nullptr) {
            address_ = other;
            process_ = static_cast<pid_t>(environment("IPC_FLOOD_PROCESS", 0));
            is_ours_ = false;
            return;
        }
        int ends[2];
        int life[2];
        if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(life, O_CLOEXEC) != 0) std::abort();
        process_ = fork();
        if (process_ == 0) {
            ::close(life[1]);
            const rlimit limit{most_files, most_files};
            if (most_files != 0) setrlimit(RLIMIT_NOFILE, &limit);
            {
                Server server(address,
                              [](Bytes request, ReplyWriter& reply) { reply.write(request.data, request.size); });
                const std::string at = server.address();
                if (write(ends[1], at.c_str(), at.size() + 1) < 0) _exit(2);
                // Until the test, or its process, ends; then the server takes its name away.
                char nothing;
                while (read(life[0], &nothing, 1) < 0) {
                }
            }
            _exit(0);
        }
        ::close(ends[1]);
        ::close(life[0]);
        life_.reset(life[1]);
        for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\0';) address_ += c;
        ::close(ends[0]);
    }
    ~ServerProcess() {
        if (!is_ours_) return;
        life_.reset();
        waitpid(process_, nullptr, 0);
    }

    const std::string& address() const { return address_; }
    // A runtime opens a few descriptors of its own as it goes.
    size_t may_open() const { return is_ours_ ? 0 : 4; }
    size_t descriptors() const { return entries("fd"); }
    size_t threads() const { return entries("task"); }
    size_t resident_kb() const {
        std::ifstream status("/proc/" + std::to_string(process_) + "/status");
        for (std::string word; status >> word;)
            if (word == "VmRSS:") {
                size_t kb = 0;
                status >> kb;
                return kb;
            }
        return 0;
    }

  private:
    size_t entries(const char* folder) const {
        size_t count = 0;
        DIR* listing = opendir(("/proc/" + std::to_string(process_) + "/" + folder).c_str());
        while (listing != nullptr && readdir(listing) != nullptr) ++count;
        if (listing != nullptr) closedir(listing);
        return count > 2 ? count - 2 : 0;
    }

    pid_t process_ = -1;
    posix::Descriptor life_; // the server ends with it
    std::string address_;
    bool is_ours_ = true;
};

// What good clients see, one after another, each with one call.
class GoodClients {
  public:
    explicit GoodClients(std::string address) : address_(std::move(address)) {}

    void one(const char* when) {
        using Clock = std::chrono::steady_clock;
        const auto us = [](Clock::duration time) {
            return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
        };
        try {
            const auto start = Clock::now();
            Channel client = Channel::connect(address_, patience_ms);
            const auto connected = Clock::now();
            EXPECT_EQ(client.call("good", patience_ms), "good") << when;
            connects_[when].push_back(us(connected - start));
            calls_[when].push_back(us(Clock::now() - connected));
        } catch (const Error& e) {
            ADD_FAILURE() << "a good client " << when << " the flood: " << e.what();
        }
    }

    std::string summary(const char* when) {
        return std::string(when) + ": " + std::to_string(connects_[when].size()) + " good, connect p50 " +
               of(connects_[when], 50) + " p99 " + of(connects_[when], 99) + " us, first call p50 " +
               of(calls_[when], 50) + " p99 " + of(calls_[when], 99) + " us";
    }

  private:
    static std::string of(std::vector<long>& all, size_t percent) {
        if (all.empty()) return "-";
        std::sort(all.begin(), all.end());
        return std::to_string(all[std::min(all.size() - 1, all.size() * percent / 100)]);
    }
    std::string address_;
    std::map<std::string, std::vector<long>> connects_;
    std::map<std::string, std::vector<long>> calls_;
};

struct Flood {
    const char* transport;
    Badness badness;
};

class FloodOf : public testing::TestWithParam<Flood> {};

std::string flood_name(const testing::TestParamInfo<Flood>& info) {
    const std::string what = info.param.badness == Badness::leaves ? "leave"
                             : info.param.badness == Badness::lies ? "send_garbage"
                                                                   : "say_nothing";
    std::string name = std::string(info.param.transport) + "_that_" + what;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::vector<Flood> floods() {
    std::vector<Flood> all;
    for (const char* transport : channel_transports)
        for (const Badness badness : {Badness::leaves, Badness::lies, Badness::says_nothing})
            all.push_back({transport, badness});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Clients, FloodOf, testing::ValuesIn(floods()), flood_name);

TEST_P(FloodOf, IsNotNoticedByGoodOnes) {
    const auto transport = GetParam().transport;
    const auto badness = GetParam().badness;
    const auto bad = static_cast<size_t>(environment("IPC_FLOOD_CLIENTS", 300));
    const size_t good = std::max<size_t>(bad / 50, 10);
    ServerProcess server(fresh_address(transport));
    ASSERT_FALSE(server.address().empty());
    GoodClients clients(server.address());
    for (size_t i = 0; i < good; ++i) clients.one("before");
    const size_t descriptors = server.descriptors();
    const size_t resident_kb = server.resident_kb();
    std::atomic<size_t> came{0};
    {
        std::vector<BadClient> all(bad);
        std::atomic<bool> over{false};
        std::thread flood([&] {
            for (BadClient& one : all)
                if (one.come(server.address(), badness)) ++came;
            over = true;
        });
        for (size_t i = 0; !over || i < good; ++i) clients.one("during");
        flood.join();
    }
    for (size_t i = 0; i < good; ++i) clients.one("after");
    EXPECT_GT(came.load(), bad * 9 / 10) << "of the bad clients";
    EXPECT_TRUE(becomes_true([&] { return server.descriptors() <= descriptors + server.may_open(); }))
        << server.descriptors() << " descriptors, " << descriptors << " before";
    std::printf("%s\n%s\n%s\n%zu bad; descriptors %zu -> %zu, threads %zu, resident %zu -> %zu kB\n",
                clients.summary("before").c_str(), clients.summary("during").c_str(), clients.summary("after").c_str(),
                came.load(), descriptors, server.descriptors(), server.threads(), resident_kb, server.resident_kb());
    // Threads come and go; what the allocator keeps of them does not grow with their number. The address sanitizer keeps more for each
    // thread that there was at once.
#if defined(IPC_ADDRESS_SANITIZER)
    constexpr size_t kept_kb = 120'000;
#else
    constexpr size_t kept_kb = 40'000;
#endif
    EXPECT_LT(server.resident_kb(), resident_kb + kept_kb);
}

class FileLimit : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, FileLimit, testing::ValuesIn(channel_transports), transport_name);

// More connections are held than the server may have files: those that call are served all the same, and when the others go the server
// has all its descriptors back.
TEST_P(FileLimit, DoesNotEndAServer) {
    const auto held = static_cast<size_t>(environment("IPC_FLOOD_CLIENTS", 500));
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < held + 100) GTEST_SKIP() << "this user may not have " << held << " files open";
    ServerProcess server(fresh_address(GetParam()), 256);
    ASSERT_FALSE(server.address().empty());
    GoodClients clients(server.address());
    clients.one("before");
    const size_t descriptors = server.descriptors();
    {
        std::vector<BadClient> all(held);
        for (BadClient& one : all) ASSERT_TRUE(one.come(server.address(), Badness::says_nothing));
        for (int i = 0; i < 3; ++i) clients.one("during");
    }
    clients.one("after");
    EXPECT_TRUE(becomes_true([&] { return server.descriptors() <= descriptors; }))
        << server.descriptors() << " descriptors, " << descriptors << " before";
}

} // namespace
} // namespace ipc::test
