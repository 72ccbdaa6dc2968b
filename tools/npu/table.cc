#include "tools/npu/table.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace npu {

std::string formatTable(const std::vector<std::vector<std::string>> &rows) {
  if (rows.empty())
    return "";
  size_t columns = rows[0].size();
  std::vector<size_t> width(columns, 0);
  std::vector<bool> right(columns, true);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < columns && c < rows[r].size(); ++c) {
      width[c] = std::max(width[c], rows[r][c].size());
      double number;
      right[c] = right[c] && (r == 0 || absl::SimpleAtod(rows[r][c], &number));
    }
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < columns && c < row.size(); ++c) {
      std::string space(width[c] - row[c].size(), ' ');
      absl::StrAppend(&line, c ? "  " : "", right[c] ? space : "", row[c],
                      right[c] ? "" : space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

} // namespace npu
