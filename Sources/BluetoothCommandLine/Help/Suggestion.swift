/// What somebody may have meant who typed a word that is not known.
enum Suggestion {
    /// The candidate closest to `word`; nil if none is close.
    static func closest(to word: String, among candidates: [String]) -> String? {
        let word = word.lowercased()
        // A third of the letters, or one of a short word: more is another word.
        let limit = max(1, word.count / 3)
        let ranked = candidates.map { (name: $0, distance: distance(from: word, to: $0)) }
        return ranked.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.name
    }

    /// To stand behind a message; empty where nothing is close.
    static func question(_ meant: String?) -> String { meant.map { ". Did you mean '\($0)'?" } ?? "" }

    /// How many letters have to be put in, left out, changed or swapped with their neighbour.
    static func distance(from source: String, to target: String) -> Int {
        let source = Array(source), target = Array(target)
        // Nobody is asked to compare a book.
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
