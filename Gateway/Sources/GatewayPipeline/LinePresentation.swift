import BluetoothDocuments

extension Publication {
    /// The message as a line for people: topic, whether it is retained, payload. Nothing in it moves a terminal's cursor.
    public var line: String {
        // JSON is escaped already, and other payloads are words of ours; whatever is neither is shown quoted.
        "\(topic)\(isRetained ? " (retained)" : "") \(String(decoding: payload, as: UTF8.self).shown)"
    }
}

extension String {
    /// The text as a terminal may show it: quoted and escaped if it has something in it that could move the cursor or turn the
    /// line around.
    public var shown: String {
        unicodeScalars.contains { $0.properties.isDangerous } ? JSONText.quoted(self) : self
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
