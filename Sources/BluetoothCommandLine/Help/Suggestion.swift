/// Suggestions for a word that is not known.
enum Suggestion {
    /// The candidate closest to `word`; nil if none is close.
    static func closest(to word: String, among candidates: [String]) -> String? {
        let word = word.lowercased()
        // Up to a third of the letters may differ, or one in a short word. Beyond that it is a different word.
        let limit = max(1, word.count / 3)
        let ranked = candidates.map { (name: $0, distance: distance(from: word, to: $0)) }
        return ranked.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.name
    }

    /// A question to append to a message; empty if there is no suggestion.
    static func question(_ meant: String?) -> String { meant.map { ". Did you mean '\($0)'?" } ?? "" }

    /// The number of letters that must be inserted, deleted, changed or swapped with their neighbor.
    static func distance(from source: String, to target: String) -> Int {
        let source = Array(source), target = Array(target)
        // The cost grows with both lengths, so long texts are not compared.
        guard source.count <= 64, target.count <= 64 else { return max(source.count, target.count) }
        var rows = [Array(0...target.count)]
        for (row, letter) in source.enumerated() {
            var current = [row + 1]
            for (column, other) in target.enumerated() {
                let isSame = letter == other
                var cost = min(rows[row][column + 1] + 1, current[column] + 1, rows[row][column] + (isSame ? 0 : 1))
                if row > 0, column > 0, letter == target[column - 1], source[row - 1] == other {
                    cost = min(cost, rows[row - 1][column - 1] + 1)
                }
                current.append(cost)
            }
            rows.append(current)
        }
        return rows[source.count][target.count]
    }
}
