extension TestRadio {
    /// How far something is from the app.
    public struct Proximity: Hashable, Sendable {
        /// Some centimetres: −40 dBm.
        public static let immediate = Proximity.rssi(-40)
        /// The same room: −60 dBm.
        public static let near = Proximity.rssi(-60)
        /// Another room: −85 dBm.
        public static let far = Proximity.rssi(-85)
        /// Out of range. A link is lost when its supervision timeout has passed.
        public static let outOfRange = Proximity(pathLoss: 200)

        /// At this RSSI, −127 to 0 dBm; below about −95 they are out of range.
        public static func rssi(_ strength: Int8) -> Proximity { Proximity(pathLoss: -min(0, Int(strength))) }

        /// The path loss, in dB: the controllers send with 0 dBm.
        let pathLoss: Int
    }
}
