import BluetoothATT
import BluetoothBase

/// Discovers a server's whole database in sweeps over all handles, rather than service by service.
///
/// The cost of discovery is its round trips. Includes are only requested if a service has room for one before its first
/// characteristic, where the specification places them (Core 5.4, Vol 3, Part G, 3.1). Descriptors are only requested
/// if a characteristic has handles after its value. Only the values of declarations are read, because some servers ask
/// their application about every other read.
struct DatabaseDiscovery: ClientProcedure {
    private enum Stage { case services, characteristics, includes, descriptors }

    private let wantsIncludes: Bool
    private var stage = Stage.services
    private var services = ServiceDiscovery()
    private var characteristics = CharacteristicDiscovery(in: 0x0001...0xFFFF)
    private var includes = IncludeDiscovery(in: 0x0001...0xFFFF)
    private var descriptors: DescriptorSweep?
    /// The last handle of the services whose characteristics have been swept.
    private var sweptEnd: UInt16 = 0
    /// The first handle of the range that is being swept.
    private var sweepStart: UInt16 = 1

    init(includes: Bool) {
        wantsIncludes = includes
    }

    var result: GATTClientResult {
        .database(
            DiscoveredDatabase(
                services: services.found, includes: includes.found, characteristics: characteristics.found,
                descriptors: descriptors?.found ?? []))
    }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        switch stage {
        case .services: services.writeRequest(mtu: mtu, into: &writer)
        case .characteristics: characteristics.writeRequest(mtu: mtu, into: &writer)
        case .includes: includes.writeRequest(mtu: mtu, into: &writer)
        case .descriptors: descriptors?.writeRequest(into: &writer)
        }
    }

    mutating func receive(_ response: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        let progress: ProcedureProgress
        switch stage {
        case .services: progress = try services.receive(response, mtu: mtu)
        case .characteristics: progress = try characteristics.receive(response, mtu: mtu)
        case .includes: progress = try includes.receive(response, mtu: mtu)
        case .descriptors:
            progress = try descriptors?.receive(response, of: characteristics.found) ?? .finished
        }
        return progress == .finished ? finishStage() : .request
    }

    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress {
        switch stage {
        case .services: _ = try services.receive(error)
        case .characteristics: _ = try characteristics.receive(error)
        case .includes: _ = try includes.receive(error)
        case .descriptors: guard error.code == .attributeNotFound else { throw .att(error) }
        }
        return finishStage()
    }

    /// Decides what to sweep next.
    private mutating func finishStage() -> ProcedureProgress {
        switch stage {
        case .services:
            return sweepCharacteristics() ?? .finished
        case .characteristics:
            guard wantsIncludes, hasRoomForIncludes else { return sweepDescriptors() }
            stage = .includes
            includes.sweep(AttributeHandle(sweepStart)...AttributeHandle(sweptEnd))
            return .request
        case .includes:
            services.addSecondary(of: includes.found)
            // An included secondary service may come after all primary ones.
            return sweepCharacteristics() ?? sweepDescriptors()
        case .descriptors:
            return .finished
        }
    }

    /// Continues with the characteristics of services not swept yet; nil if all were swept.
    private mutating func sweepCharacteristics() -> ProcedureProgress? {
        guard let end = services.found.last?.endHandle.rawValue, end > sweptEnd else { return nil }
        sweepStart = sweptEnd + 1
        sweptEnd = end
        stage = .characteristics
        characteristics.sweep(AttributeHandle(sweepStart)...AttributeHandle(end))
        return .request
    }

    private mutating func sweepDescriptors() -> ProcedureProgress {
        characteristics.assign(to: services.found)
        stage = .descriptors
        descriptors = DescriptorSweep(of: characteristics.found)
        return descriptors == nil ? .finished : .request
    }

    /// Whether some service of the range just swept has handles between its declaration and its first characteristic.
    private var hasRoomForIncludes: Bool {
        var next = 0
        for service in services.found where service.endHandle.rawValue >= sweepStart {
            while next < characteristics.found.count,
                characteristics.found[next].declarationHandle <= service.startHandle
            {
                next += 1
            }
            let first =
                next < characteristics.found.count
                ? Int(characteristics.found[next].declarationHandle.rawValue) : 0x10000
            let room = min(first - 1, Int(service.endHandle.rawValue)) - Int(service.startHandle.rawValue)
            if room > 0 { return true }
        }
        return false
    }
}

extension ServiceDiscovery {
    /// Adds the secondary services, which are only known because other services include them.
    mutating func addSecondary(of includes: [DiscoveredInclude]) {
        var candidates = found
        for include in includes {
            candidates.append(
                DiscoveredService(
                    uuid: include.uuid, startHandle: include.startHandle, endHandle: include.endHandle,
                    isPrimary: false))
        }
        // If two services start at the same handle, the primary one stays. A service that overlaps another is the
        // server's error; the client drops only that service.
        candidates.sort {
            ($0.startHandle.rawValue, $0.isPrimary ? 0 : 1) < ($1.startHandle.rawValue, $1.isPrimary ? 0 : 1)
        }
        found.removeAll(keepingCapacity: true)
        for candidate in candidates where candidate.startHandle.rawValue > found.last?.endHandle.rawValue ?? 0 {
            found.append(candidate)
        }
    }
}

extension CharacteristicDiscovery {
    /// Ends every characteristic within its service, and removes those outside every known service.
    mutating func assign(to services: [DiscoveredService]) {
        var kept = 0, service = 0
        for index in found.indices {
            var characteristic = found[index]
            while service < services.count, services[service].endHandle < characteristic.declarationHandle {
                service += 1
            }
            guard service < services.count else { break }
            guard services[service].startHandle < characteristic.declarationHandle,
                characteristic.valueHandle <= services[service].endHandle
            else { continue }
            let nextDeclaration = index + 1 < found.count ? found[index + 1].declarationHandle.rawValue : 0
            let end = services[service].endHandle
            characteristic.endHandle =
                nextDeclaration > 0 ? min(AttributeHandle(nextDeclaration - 1), end) : end
            found[kept] = characteristic
            kept += 1
        }
        found.removeLast(found.count - kept)
    }
}
