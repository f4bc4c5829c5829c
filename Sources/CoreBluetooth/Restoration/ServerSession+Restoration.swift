import Foundation

/// The next run continues the work of a peripheral manager.
extension ServerSession {
    /// Restores the state of the last run, and reports it to the application before anything else.
    func restore() {
        guard let saved = stateOfLastRun("peripheral", { [self] in savedState }),
            let manager = manager.object
        else { return }
        isRestoring = true
        var restored: [CBMutableService] = []
        for service in saved.restoredServices {
            do throws(CBError) {
                let definition = try ServiceDefinition(service)
                lock.withLock { services.append(Service(definition: definition)) }
                restored.append(service)
            } catch {
                reportFailure("\(service) is no longer published: \(error)")
            }
        }
        manager.restore(restored)
        lock.withLock { wantedAdvertisement = saved.advertisement.map { WantedAdvertisement($0.dictionary) } }
        var dictionary: [String: Any] = [:]
        if !restored.isEmpty { dictionary[CBPeripheralManagerRestoredStateServicesKey] = restored }
        if let advertisement = saved.advertisement {
            dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement.dictionary
        }
        post(.restored(dictionary))
    }

    private var savedState: ServerState {
        let (wanted, advertisement) = lock.withLock {
            (
                services.filter { !unwanted.contains($0.identifier) && !leaving.contains($0.identifier) },
                wantedAdvertisement
            )
        }
        return ServerState(wanted.map(\.definition.service), advertisement)
    }
}
