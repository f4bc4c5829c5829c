import BluetoothATT
import BluetoothBase

// Finds attributes by type, and services by their UUID, without visiting the others.

extension GATTDatabase {
    /// The type of the attribute in a row.
    @inline(__always)
    func typeUUID(at index: Int) -> BluetoothUUID { typeUUIDs[Int(rows[index].type)] }

    /// The handles of the attributes of a type, in ascending order.
    func handles(ofType uuid: BluetoothUUID) -> [AttributeHandle] {
        typeIndex(of: uuid).map { typeHandles[Int($0)] } ?? []
    }

    /// The handles of the attributes of a type that may have this value, in ascending order. For primary services, only
    /// those whose UUID is the value; for other types, all of them.
    func candidates(ofType type: UInt16, value: Span<UInt8>) -> [AttributeHandle] {
        let uuid = BluetoothUUID(type)
        guard uuid == .primaryService else { return handles(ofType: uuid) }
        return GATTDatabase.serviceUUID(value).flatMap { primaryServices[$0] } ?? []
    }
}

extension [AttributeHandle] {
    /// The index of the first handle that is not below `start`. The list must be in ascending order.
    func position(from start: AttributeHandle) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) / 2
            if self[middle] < start { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// Inserts a handle into an ascending list that does not contain it.
    mutating func insertInOrder(_ handle: AttributeHandle) {
        // Most services are added after all others.
        if let last, last > handle { insert(handle, at: position(from: handle)) } else { append(handle) }
    }

    /// Removes the handles of a range from an ascending list.
    mutating func removeAll(in handles: ClosedRange<AttributeHandle>) {
        let start = position(from: handles.lowerBound)
        var end = start
        while end < count, self[end] <= handles.upperBound { end &+= 1 }
        removeSubrange(start..<end)
    }
}
