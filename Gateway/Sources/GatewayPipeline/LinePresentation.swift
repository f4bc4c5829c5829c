import BluetoothDocuments

extension Publication {
    /// The message as a line for people: topic, whether it is retained, payload. Nothing in it moves a terminal's cursor.
    public var line: String {
        let text = String(decoding: payload, as: UTF8.self)
        // JSON is escaped already, and other payloads are words of ours; whatever is neither is shown quoted.
        let isPlain = text.unicodeScalars.allSatisfy { !$0.properties.isDangerous }
        return "\(topic)\(isRetained ? " (retained)" : "") \(isPlain ? text : JSONText.quoted(text))"
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isDangerous: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
