extension TestRadio {
    /// The distance of a device from the app.
    public struct Proximity: Hashable, Sendable {
        /// A few centimeters: −40 dBm.
        public static let immediate = Proximity.rssi(-40)
        /// The same room: −60 dBm.
        public static let near = Proximity.rssi(-60)
        /// Another room: −85 dBm.
        public static let far = Proximity.rssi(-85)
        /// Out of range. A link is lost when its supervision timeout has passed.
        public static let outOfRange = Proximity(pathLoss: 200)

        /// The distance for an RSSI of −127 to 0 dBm. Below about −95 dBm, the device is out of range.
        public static func rssi(_ strength: Int8) -> Proximity { Proximity(pathLoss: -min(0, Int(strength))) }

        /// The same distance, with an RSSI that varies by up to this number of decibels, up and down.
        public func varying(by deviation: Int) -> Proximity {
            Proximity(pathLoss: pathLoss, deviation: max(0, min(127, deviation)))
        }

        /// The path loss, in dB. The controllers transmit at 0 dBm.
        let pathLoss: Int
        /// By how many decibels a measured RSSI differs from the one that follows from the path loss, at most.
        let deviation: Int

        private init(pathLoss: Int, deviation: Int = 0) {
            self.pathLoss = pathLoss
            self.deviation = deviation
        }
    }
}
