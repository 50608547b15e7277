// The parts of the native peer that need no second process: generator, cell, table.
#include "cell.hpp"
#include "data.hpp"
#include "failure.hpp"
#include "table.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ipc::peer::peer_parts_test {
namespace {

template <class Work>
std::string failure_of(Work&& work) {
    try {
        work();
    } catch (const Failure& failure) {
        return failure.status() + ": " + failure.what();
    }
    return "";
}

// The published outputs of splitmix64.
TEST(Generator, IsSplitmix64) {
    Generator generator(1234567);
    EXPECT_EQ(generator.next(), 6457827717110365317u);
    EXPECT_EQ(generator.next(), 3203168211198807973u);
    EXPECT_EQ(generator.next(), 9817491932198370423u);
}

TEST(Generator, TextsTakeEightCharactersFromEachOutput) {
    const std::string alphabet = "abcdefghijklmnopqrstuvwxyz012345";
    Generator numbers(9), texts(9);
    const uint64_t first = numbers.next(), second = numbers.next();
    const std::string text = texts.text(10);
    for (size_t i = 0; i < 10; ++i) EXPECT_EQ(text[i], alphabet[(i < 8 ? first >> 8 * i : second >> 8 * (i - 8)) & 31]);
    EXPECT_EQ(texts.text(1)[0], alphabet[numbers.next() & 31]);
}

TEST(RawPayload, IsCutAtItsLengthAndStamped) {
    const auto long_one = raw_payload(5, 100);
    auto short_one = raw_payload(5, 13);
    EXPECT_TRUE(std::equal(short_one.begin(), short_one.end(), long_one.begin()));
    stamp_sequence(short_one, 0x0102);
    EXPECT_EQ(short_one[0], 2);
    EXPECT_EQ(short_one[1], 1);
    EXPECT_EQ(short_one[8], long_one[8]);
    auto tiny = raw_payload(5, 7);
    stamp_sequence(tiny, 1);
    EXPECT_EQ(tiny, raw_payload(5, 7));
    EXPECT_TRUE(raw_payload(5, 0).empty());
}

TEST(CheckBytes, NamesTheFirstWrongByte) {
    auto found = raw_payload(5, 200);
    const auto expected = found;
    EXPECT_EQ(failure_of([&] { check_bytes("reply", found, expected); }), "");
    found[150] ^= 1;
    EXPECT_EQ(
        failure_of([&] { check_bytes("reply", found, expected); }).rfind("WRONG_CONTENT: byte 150 of the reply", 0),
        0u);
    spoil(found);
    EXPECT_NE(failure_of([&] { check_bytes("reply", std::span(found).first(64), std::span(expected).first(64)); }), "");
}

constexpr const char* good_cell =
    R"({"role":"client","side":"native","address":"unix://a","codec":"raw","scenario":"call",)"
    R"("workload":{"id":"32","request_bytes":32,"reply_bytes":32,"scenarios":["call"]},"seed":18446744073709551615,)"
    R"("cpu":null,"warmup_seconds":0.1,"seconds":0.5,"count":null,"samples":"/tmp/s"})";

std::string with(std::string cell, const std::string& from, const std::string& to) {
    const size_t at = cell.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return cell.replace(at, from.size(), to);
}

TEST(Cell, IsReadAsItStands) {
    const Cell cell = parse_cell(good_cell);
    EXPECT_EQ(cell.role, Role::client);
    EXPECT_EQ(cell.seed, ~uint64_t{0});
    EXPECT_FALSE(cell.cpu);
    EXPECT_FALSE(cell.count);
    EXPECT_EQ(cell.workload.request_bytes, 32u);
    EXPECT_FALSE(cell.is_text());
    EXPECT_EQ(parse_cell(with(good_cell, "\"cpu\":null", "\"cpu\":1")).cpu, 1);
}

TEST(Cell, ComplaintsNameTheField) {
    const auto failure = [](const std::string& from, const std::string& to) {
        return failure_of([&] { parse_cell(with(good_cell, from, to)); });
    };
    EXPECT_NE(failure("\"client\"", "\"judge\"").find("judge"), std::string::npos);
    EXPECT_NE(failure("\"native\"", "\"managed\"").find("managed"), std::string::npos);
    EXPECT_NE(failure("\"unix://a\"", "\"\"").find("address"), std::string::npos);
    EXPECT_NE(failure("\"seed\"", "\"sead\"").find("'seed'"), std::string::npos);
    EXPECT_NE(failure("0.5", "\"long\"").find("'seconds'"), std::string::npos);
    EXPECT_NE(failure("0.5", "0").find("seconds"), std::string::npos);
    EXPECT_NE(failure("\"count\":null", "\"count\":0").find("count"), std::string::npos);
    EXPECT_NE(failure("\"count\":null", "\"pause_us\":1000001").find("pauses 1000001 us"), std::string::npos);
    EXPECT_NE(failure("\"id\":\"32\",", "\"id\":\"32\",\"text\":[\"one\"],").find("texts"), std::string::npos);
    EXPECT_NE(failure_of([] { parse_cell("hello"); }), "");
    EXPECT_NE(failure_of([] { parse_cell("[]"); }), "");
}

class TableFile : public ::testing::Test {
  protected:
    ~TableFile() override { std::filesystem::remove(path_); }

    TableQuestion write(const std::string& text) {
        std::ofstream(path_, std::ios::binary) << text;
        return {.file = path_, .separator = ';', .header = std::nullopt, .ids = {}, .fields = {}};
    }

    using Names = std::vector<std::string>;
    static std::string found(const Table& table, const Names& ids, const Names& fields) {
        std::vector<std::string_view> cells;
        std::string text = table.find(ids, fields, &cells);
        for (std::string_view cell : cells) text += "[" + std::string(cell) + "]";
        return text;
    }

    std::string path_ =
        (std::filesystem::temp_directory_path() / ("ipc-table-test-" + std::to_string(getpid()) + ".csv")).string();
};

TEST_F(TableFile, AnswersRowAfterRow) {
    const Table table(
        write("\xEF\xBB\xBFid;name;note\r\n1; one ;\"a;b\"\r\n2;two;\"say \"\"hi\"\"\"\r\n1;again;x\r\n3;;"));
    EXPECT_EQ(found(table, {"2", "1"}, {"note", "name"}), "[say \"hi\"][two][a;b][ one ]");
    EXPECT_EQ(found(table, {"3"}, {"id", "name", "note"}), "[3][][]");
    EXPECT_EQ(found(table, {}, {"name"}), "");
}

TEST_F(TableFile, TakesAHeaderFromTheQuestion) {
    TableQuestion question = write("a;1\nb;2\n");
    question.header = {"key", "value"};
    EXPECT_EQ(found(Table(question), {"b"}, {"value"}), "[2]");
}

TEST_F(TableFile, NamesWhatItDoesNotHave) {
    const Table table(write("id;name\n1;one\n2;two\n"));
    EXPECT_EQ(found(table, {"7"}, {"name"}),
              "the table " + path_ + " has no id '7': its first column has 2 ids from '1' to '2'");
    EXPECT_EQ(found(table, {"1"}, {"nome"}), "the table " + path_ + " has no field 'nome': ask for some of id, name");
}

TEST_F(TableFile, BadFilesAreNamedWithTheRow) {
    const auto failure = [this](const std::string& text) { return failure_of([&] { Table table(write(text)); }); };
    EXPECT_NE(failure("id;name\n1;one\n2\n").find("row 3 has 1 cells"), std::string::npos);
    EXPECT_NE(failure("id;name\n1;\xFF\n").find("row 2 has a cell that is not UTF-8"), std::string::npos);
    EXPECT_NE(failure("id;name\n1;\"open\n").find("quote"), std::string::npos);
    EXPECT_NE(failure("id;name\n1;a\"b\n").find("row 2 is no CSV"), std::string::npos);
    EXPECT_NE(failure("").find("empty"), std::string::npos);
    EXPECT_NE(
        failure_of([] {
            Table table(
                {.file = "/nowhere/table.csv", .separator = ';', .header = std::nullopt, .ids = {}, .fields = {}});
        }).find("/nowhere/table.csv"),
        std::string::npos);
}

} // namespace
} // namespace ipc::peer::peer_parts_test
