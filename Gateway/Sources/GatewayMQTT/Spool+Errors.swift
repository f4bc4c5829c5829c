import GRDB

extension Spool {
    /// Whether an error says that a file is no database, or is not any more.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT
    }

    /// What to say of an error.
    static func text(of error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        if error.resultCode == .SQLITE_BUSY { return "another ble-gateway uses it" }
        return error.message ?? "\(error.resultCode)"
    }
}
