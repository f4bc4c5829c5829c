import BluetoothLE
import Foundation

/// What a peripheral manager does goes on in the next run.
extension ServerSession {
    /// Takes up what the last run has left, and tells the application of that before anything else.
    func restore() async {
        guard let identifier = restoreIdentifier else { return }
        let file = StateFile("peripheral", identifier, in: environment.stateDirectory)
        guard StateClaims.claim(file) else {
            return reportMisuse("a peripheral manager with the restore identifier \(identifier) is there already")
        }
        let keeper = StateKeeper(file) { [weak self] in self?.state }
        self.keeper = keeper
        guard let saved = await keeper.restore(), !isStopped, let manager = manager.object else { return }
        isRestoring = true
        var restored: [CBMutableService] = []
        for service in saved.restoredServices {
            do throws(CBError) {
                services.append(Service(definition: try ServiceDefinition(service)))
                restored.append(service)
            } catch {
                reportFailure("\(service) is not published any more: \(error)")
            }
        }
        manager.restore(restored)
        wantedAdvertisement = saved.advertisement.map { WantedAdvertisement($0.dictionary) }
        var dictionary: [String: Any] = [:]
        if !restored.isEmpty { dictionary[CBPeripheralManagerRestoredStateServicesKey] = restored }
        if let advertisement = saved.advertisement {
            dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement.dictionary
        }
        tell { $0.delegate?.peripheralManager($0, willRestoreState: dictionary) }
    }

    /// What it does is something else now, perhaps.
    func changed() { keeper?.changed() }

    func stopRemembering() {
        guard let keeper else { return }
        keeper.close()
        StateClaims.release(keeper.file)
        self.keeper = nil
    }

    private var state: ServerState {
        let wanted = services.filter { !unwanted.contains($0.identifier) }
        return ServerState(wanted.map(\.definition.service), wantedAdvertisement)
    }
}
