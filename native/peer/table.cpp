#include "table.hpp"

#include "codecs/utf8.hpp"
#include "failure.hpp"

#include <csv.h>
#include <fstream>
#include <memory>
#include <new>
#include <utility>

namespace ipc::peer {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF"; // some spreadsheets begin a UTF-8 file with it

struct ParserFree {
    void operator()(csv_parser* parser) const { csv_free(parser); }
};

[[noreturn]] void fail_file(const std::string& file, const std::string& what) {
    throw Failure("INVALID_ARGUMENT", "the table " + file + " " + what);
}

} // namespace

// Takes the parser's events. Nothing may be thrown through the C library, so the first complaint is kept.
struct Table::Loader {
    Table& table;
    bool header_known;
    size_t row = 1;
    size_t cells_in_row = 0;
    std::string complaint;

    void add_cell(const char* text, size_t length) {
        if (!complaint.empty()) return;
        if (!codecs::is_utf8(text, length)) complain("has a cell that is not UTF-8: save it as UTF-8");
        ++cells_in_row;
        if (!header_known) {
            table.header_.emplace_back(text, length);
            return;
        }
        table.begins_.push_back(table.text_.size());
        table.text_.append(text, length);
    }

    void end_row() {
        if (header_known && cells_in_row != table.header_.size())
            complain("has " + std::to_string(cells_in_row) + " cells where the header has " +
                     std::to_string(table.header_.size()) + ": make them equal");
        header_known = true;
        cells_in_row = 0;
        ++row;
    }

    void complain(const std::string& what) {
        if (complaint.empty()) complaint = "row " + std::to_string(row) + " " + what;
    }

    static void on_cell(void* text, size_t length, void* loader) {
        static_cast<Loader*>(loader)->add_cell(length ? static_cast<const char*>(text) : "", length);
    }
    static void on_row(int, void* loader) { static_cast<Loader*>(loader)->end_row(); }

    void parse(const std::string& file, char separator) {
        std::ifstream stream(file, std::ios::binary);
        if (!stream) fail_file(file, "cannot be opened: check its path and permissions");
        csv_parser parser;
        if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
        const std::unique_ptr<csv_parser, ParserFree> owner(&parser);
        csv_set_delim(&parser, static_cast<unsigned char>(separator));
        csv_set_space_func(&parser, [](unsigned char) { return 0; }); // spaces are part of a cell
        std::string bytes(size_t{1} << 16, '\0');
        for (bool first = true; stream && complaint.empty(); first = false) {
            stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            std::string_view chunk(bytes.data(), static_cast<size_t>(stream.gcount()));
            if (first && chunk.starts_with(byte_order_mark)) chunk.remove_prefix(byte_order_mark.size());
            if (csv_parse(&parser, chunk.data(), chunk.size(), on_cell, on_row, this) != chunk.size())
                complain("is no CSV: " + std::string(csv_strerror(csv_error(&parser))));
        }
        if (complaint.empty() && csv_fini(&parser, on_cell, on_row, this) != 0)
            complain("is no CSV: a quote is never closed");
        if (!complaint.empty()) fail_file(file, "cannot be used: " + complaint);
    }
};

Table::Table(const TableQuestion& question) : file_(question.file) {
    if (question.header) header_ = *question.header;
    Loader loader{.table = *this, .header_known = question.header.has_value(), .complaint = {}};
    loader.parse(file_, question.separator);
    begins_.push_back(text_.size());
    if (header_.empty()) fail_file(file_, "is empty: name a file with a header and rows");
    index();
}

void Table::index() {
    for (size_t column = 0; column < header_.size(); ++column) columns_.emplace(header_[column], column);
    const size_t rows = (begins_.size() - 1) / header_.size();
    rows_.reserve(rows);
    for (size_t row = 0; row < rows; ++row) rows_.emplace(cell(row, 0), row);
}

std::string Table::no_field(const std::string& name) const {
    std::string known;
    for (const std::string& field : header_) known += (known.empty() ? "" : ", ") + field;
    return "the table " + file_ + " has no field '" + name + "': ask for some of " + known;
}

std::string Table::no_id(const std::string& id) const {
    if (rows_.empty()) return "the table " + file_ + " has no id '" + id + "': it has no rows at all";
    const size_t last = (begins_.size() - 1) / header_.size() - 1;
    return "the table " + file_ + " has no id '" + id + "': its first column has " + std::to_string(rows_.size()) +
           " ids from '" + std::string(cell(0, 0)) + "' to '" + std::string(cell(last, 0)) + "'";
}

} // namespace ipc::peer
