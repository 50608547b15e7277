#pragma once

#include "cell.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ipc::peer {

// A CSV file of the user's own, read once: rows are found by the text of their first column (the first of several equal
// ones counts), columns by their name.
class Table {
  public:
    // Throws a Failure naming the file and, where it can, the row.
    explicit Table(const TableQuestion& question);

    // The cells asked for, row after row, valid as long as the table. Returns "" or an error message that names the
    // id or field the table does not have.
    template <class Ids, class Fields>
    std::string find(const Ids& ids, const Fields& fields, std::vector<std::string_view>* cells) const {
        std::vector<size_t> columns;
        for (const std::string& name : fields) {
            const auto found = columns_.find(name);
            if (found == columns_.end()) return no_field(name);
            columns.push_back(found->second);
        }
        cells->clear();
        for (const std::string& id : ids) {
            const auto found = rows_.find(id);
            if (found == rows_.end()) return no_id(id);
            for (size_t column : columns) cells->push_back(cell(found->second, column));
        }
        return {};
    }

  private:
    struct Loader;

    std::string_view cell(size_t row, size_t column) const {
        const size_t at = row * header_.size() + column;
        return std::string_view(text_).substr(begins_[at], begins_[at + 1] - begins_[at]);
    }
    std::string no_field(const std::string& name) const;
    std::string no_id(const std::string& id) const;
    void index();

    std::string file_;
    std::vector<std::string> header_;
    std::string text_;           // of all cells, one after the other
    std::vector<size_t> begins_; // where each cell begins in text_, and where the last one ends
    std::unordered_map<std::string_view, size_t> rows_;
    std::unordered_map<std::string_view, size_t> columns_;
};

} // namespace ipc::peer
