import BluetoothBase

extension AdvertisingPayload {
    /// Places AD structures in advertising data and scan response data, in the order in which they are added.
    struct Packer {
        private let limits: Limits
        private(set) var advertisingData = ByteWriter()
        private(set) var scanResponseData = ByteWriter()

        init(limits: Limits) {
            self.limits = limits
        }

        /// The number of data octets that the next structure in the advertising data may have. A structure is never
        /// longer than its length octet allows. A negative value means that not even an empty structure fits.
        private var advertisingSpace: Int { min(limits.advertisingData - advertisingData.count - 2, 254) }
        private var scanResponseSpace: Int { min(limits.scanResponseData - scanResponseData.count - 2, 254) }

        /// Places a structure undivided. Throws if it does not fit.
        mutating func place(
            _ type: ADType, _ data: [UInt8], onlyInAdvertisingData: Bool = false
        ) throws(AdvertisingPayloadError) {
            if data.count <= advertisingSpace {
                advertisingData.append(type, data)
            } else if data.count <= scanResponseSpace, !onlyInAdvertisingData {
                scanResponseData.append(type, data)
            } else {
                let space = onlyInAdvertisingData ? advertisingSpace : max(advertisingSpace, scanResponseSpace)
                throw AdvertisingPayloadError(type: type, excess: data.count - space)
            }
        }

        /// Places a list of UUIDs of `length` octets each, split in two if necessary. Throws if it does not fit.
        mutating func place(
            list uuids: [BluetoothUUID], length: Int, type: ADType, splitType: ADType
        ) throws(AdvertisingPayloadError) {
            guard !uuids.isEmpty else { return }
            let octets = uuids.count * length
            let front = max(0, advertisingSpace) / length
            if octets <= max(advertisingSpace, scanResponseSpace) || front == 0 {
                return try place(type, uuids[...].octets)
            }
            let rest = uuids.dropFirst(front)
            guard rest.count * length <= scanResponseSpace else {
                // The excess over the total space of both parts, since a list may be split.
                throw AdvertisingPayloadError(type: type, excess: rest.count * length - max(0, scanResponseSpace))
            }
            advertisingData.append(splitType, uuids.prefix(front).octets)
            scanResponseData.append(splitType, rest.octets)
        }

        /// Places a name, shortened if necessary. Throws if not a single character fits.
        mutating func place(name: String, type: ADType) throws(AdvertisingPayloadError) {
            guard !name.isEmpty else { return }
            let length = name.utf8.count
            if length <= max(advertisingSpace, scanResponseSpace) { return try place(type, Array(name.utf8)) }
            let front = name.prefix(octets: max(advertisingSpace, scanResponseSpace))
            guard !front.isEmpty else {
                throw AdvertisingPayloadError(type: type, excess: length - max(advertisingSpace, scanResponseSpace))
            }
            if advertisingSpace > scanResponseSpace {
                advertisingData.append(.shortenedLocalName, Array(front.utf8))
            } else {
                scanResponseData.append(.shortenedLocalName, Array(front.utf8))
            }
        }
    }
}

extension ByteWriter {
    /// Appends an AD structure with up to 254 octets of data.
    fileprivate mutating func append(_ type: ADType, _ data: [UInt8]) {
        append(UInt8(truncatingIfNeeded: data.count + 1))
        append(type.rawValue)
        append(data)
    }
}

extension ArraySlice<BluetoothUUID> {
    /// The concatenated UUIDs, each in its shortest form.
    fileprivate var octets: [UInt8] {
        var writer = ByteWriter()
        for uuid in self { writer.appendAdvertised(uuid) }
        return writer.bytes
    }
}

extension String {
    /// Returns the longest prefix of whole characters that fits in `octets` octets of UTF-8.
    fileprivate func prefix(octets: Int) -> Substring {
        var front = self[startIndex..<startIndex]
        var length = 0
        for index in indices {
            length += self[index].utf8.count
            guard length <= octets else { break }
            front = self[...index]
        }
        return front
    }
}
