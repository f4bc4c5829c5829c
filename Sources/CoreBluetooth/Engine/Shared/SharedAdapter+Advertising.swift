import BluetoothLE

/// Advertising for several managers at once, for whom one advertisement has to do.
extension SharedAdapter {
    /// Advertises what a manager wants beside what others do.
    func advertise(_ wanted: WantedAdvertisement, for user: any AdapterUser) async throws(BluetoothError) {
        let identifier = ObjectIdentifier(user)
        advertisements.append((identifier, wanted))
        do throws(BluetoothError) {
            try await updateAdvertising()
        } catch {
            advertisements.removeAll { $0.user == identifier }
            throw error
        }
    }

    /// Leaves out what a manager wanted.
    func stopAdvertising(for user: any AdapterUser) async {
        let before = advertisements.count
        advertisements.removeAll { $0.user == ObjectIdentifier(user) }
        guard advertisements.count < before else { return }
        // Where this fails the adapter is gone, and everything with it.
        try? await updateAdvertising()
    }

    /// Ends advertising, since the adapter is off. One that is reset would take it up again by itself.
    func endAdvertising() {
        guard !advertisements.isEmpty else { return }
        advertisements = []
        let adapter = opened
        advertising.add { await adapter?.stopAdvertising() }
    }

    /// Advertises what all managers want by now; after what was to be advertised before, which this would call off.
    private func updateAdvertising() async throws(BluetoothError) {
        let result: Result<Void, BluetoothError> = await withCheckedContinuation { continuation in
            advertising.add { [self] in
                do throws(BluetoothError) {
                    guard let adapter else { throw .adapterRemoved }
                    if let wanted = WantedAdvertisement(of: advertisements.map(\.wanted)) {
                        try await adapter.advertise(wanted.fitting)
                    } else {
                        await adapter.stopAdvertising()
                    }
                    continuation.resume(returning: .success(()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        try result.get()
    }
}
