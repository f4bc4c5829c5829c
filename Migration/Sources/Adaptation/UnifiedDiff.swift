/// The difference of two texts, in the form that `patch` takes.
///
/// - Parameters:
///   - before: the old contents; nil if the file is new.
///   - context: how many unchanged lines surround each change.
public func unifiedDiff(_ before: String?, _ after: String, path: String, context: Int = 3) -> String {
    guard before != after else { return "" }
    let (old, new) = (before.map(lines) ?? [], lines(after))
    let difference = new.difference(from: old)
    let (removed, inserted) = (Set(difference.removals.map(offset)), Set(difference.insertions.map(offset)))
    // Line by line: what is in both, gone, or new, with where it is.
    var rows: [Row] = []
    var (i, j) = (0, 0)
    while i < old.count || j < new.count {
        if i < old.count, removed.contains(i) {
            rows.append(Row(mark: "-", text: old[i], old: i, new: j))
            i += 1
        } else if j < new.count, inserted.contains(j) {
            rows.append(Row(mark: "+", text: new[j], old: i, new: j))
            j += 1
        } else {
            rows.append(Row(mark: " ", text: old[i], old: i, new: j))
            (i, j) = (i + 1, j + 1)
        }
    }
    var output = "--- \(before == nil ? "/dev/null" : "a/\(path)")\n+++ b/\(path)\n"
    for hunk in hunks(rows, context) {
        let (olds, news) = (hunk.count { $0.mark != "+" }, hunk.count { $0.mark != "-" })
        let first = hunk[hunk.startIndex]
        output += "@@ -\(place(first.old, olds)) +\(place(first.new, news)) @@\n"
        for row in hunk {
            output +=
                "\(row.mark)\(row.text)"
                + (row.text.utf8.last == UInt8(ascii: "\n") ? "" : "\n\\ No newline at end of file\n")
        }
    }
    return output
}

private struct Row {
    let mark: Character
    let text: String
    let old: Int
    let new: Int
}

private func offset(_ change: CollectionDifference<String>.Change) -> Int {
    switch change {
    case .insert(let offset, _, _), .remove(let offset, _, _): offset
    }
}

/// Lines with their ends, so that a missing one at the end shows.
private func lines(_ text: String) -> [String] {
    // By octets: for `Character`, a carriage return and a line feed are one.
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    let last = lines.removeLast()
    let whole = lines.map { String(decoding: $0 + [UInt8(ascii: "\n")], as: UTF8.self) }
    return last.isEmpty ? whole : whole + [String(decoding: last, as: UTF8.self)]
}

private func place(_ start: Int, _ count: Int) -> String { "\(count == 0 ? start : start + 1),\(count)" }

/// Changes with what is around them; those that are near each other together.
private func hunks(_ rows: [Row], _ context: Int) -> [ArraySlice<Row>] {
    var ranges: [Range<Int>] = []
    for index in rows.indices where rows[index].mark != " " {
        let range = max(0, index - context)..<min(rows.count, index + context + 1)
        if let last = ranges.last, last.upperBound >= range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }
    return ranges.map { rows[$0] }
}
