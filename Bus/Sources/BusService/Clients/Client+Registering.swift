import BluetoothHost
import BusObjects
import DBus

/// The objects that a client registers at the daemon.
extension Client {
    /// The maximum number of registered objects of each kind.
    private static let registrationLimit = 64
    /// The maximum number of roots of monitors, each of which has many.
    private static let monitorLimit = 4

    // MARK: - Advertisements

    func registerAdvertisement(_ path: ObjectPath, _ call: MethodCall) throws(BusError) {
        guard advertisements[path] == nil, !isRegistering(path) else { throw .alreadyExists }
        guard advertisements.count + registeringCount < Self.registrationLimit else {
            throw .notPermitted("Maximum advertisements reached")
        }
        let interface = DBusValue.string(Advertisement.interface)
        let reading = self.call(path, "org.freedesktop.DBus.Properties", "GetAll", [interface]) { [weak self] result in
            guard let self else { return }
            registered(path)
            do throws(BusError) {
                guard case .success(let values) = result, let properties = values.first else {
                    throw Advertisement.Content.malformed
                }
                try advertise(try Advertisement.Content(properties), path, call)
            } catch {
                call.fail(error)
            }
        }
        begin(path, reading)
    }

    private func advertise(
        _ content: Advertisement.Content, _ path: ObjectPath, _ call: MethodCall
    ) throws(BusError) {
        guard daemon.adapter.isPowered else { throw .failed("Failed to register advertisement") }
        let advertisement = Advertisement(content, path, self)
        keep(advertisement, at: path)
        advertisement.begin { [weak self] error in
            if let error {
                _ = self?.removeAdvertisement(path)
                call.fail(error)
            } else {
                self?.daemon.adapter.advertisingChanged()
                call.reply()
            }
        }
    }

    func unregisterAdvertisement(_ path: ObjectPath, _ call: MethodCall) throws(BusError) {
        guard let advertisement = removeAdvertisement(path) else { throw .doesNotExist }
        advertisement.cancel()
        daemon.adapter.advertisingChanged()
        call.reply()
    }

    // MARK: - Applications

    func registerApplication(_ path: ObjectPath, _ call: MethodCall) throws(BusError) {
        guard applications[path] == nil, !isRegistering(path) else { throw .alreadyExists }
        guard applications.count + registeringCount < Self.registrationLimit else {
            throw .failed("Failed to register application")
        }
        try followSignals()
        managedObjects(path, call) { client, objects throws(BusError) in
            let application = try Application(objects, client)
            client.keep(application, at: path)
            application.publish { [weak client] error in client?.published(application, at: path, error, call) }
        }
    }

    private func published(_ application: Application, at path: ObjectPath, _ error: BusError?, _ call: MethodCall) {
        if let error {
            // The client may have withdrawn it, and registered another one.
            if applications[path] === application { _ = removeApplication(path) }
            return call.fail(error)
        }
        daemon.adapter.changed("UUIDs")
        call.reply()
    }

    func unregisterApplication(_ path: ObjectPath, _ call: MethodCall) throws(BusError) {
        guard let application = removeApplication(path) else { throw .doesNotExist }
        application.withdraw {
            call.reply()
        }
        daemon.adapter.changed("UUIDs")
    }

    // MARK: - Monitors

    func registerMonitors(_ path: ObjectPath, _ call: MethodCall) throws(BusError) {
        guard monitors[path] == nil, !isRegistering(path) else { throw .alreadyExists }
        guard monitors.count < Self.monitorLimit else { throw .failed("Too many monitors") }
        try followSignals()
        let application = MonitorApplication(path, self)
        keep(application, at: path)
        application.begin(call)
    }

    func unregisterMonitors(_ path: ObjectPath, _ call: MethodCall) throws(BusError) {
        guard let application = removeMonitors(path) else { throw .doesNotExist }
        application.release()
        call.reply()
    }

    // MARK: - Following a client's objects

    /// Passes on a signal of the client.
    func signaled(_ message: Message) {
        switch (message.interface, message.member) {
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
            guard let path = message.path, applications.values.contains(where: { $0.contains(path) }),
                let values = try? message.readAll(), values.count > 1,
                values[0].text == Application.characteristicInterface
            else { return }
            // Applications may share objects.
            for application in applications.values { application.propertiesChanged(path, values[1]) }
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
            guard !monitors.isEmpty, let values = try? message.readAll(), values.count == 2,
                let path = values[0].path
            else { return }
            for application in monitors.values where application.contains(path) { application.add(path, values[1]) }
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
            guard !monitors.isEmpty, let values = try? message.readAll(), values.count == 2,
                let path = values[0].path, values[1].texts?.contains(Monitor.interface) == true
            else { return }
            for application in monitors.values { application.remove(path) }
        default: return
        }
    }

    // MARK: - Reading a client's objects

    /// Reads the objects below a path, and passes them on. If the body throws, the call fails.
    private func managedObjects(
        _ path: ObjectPath, _ call: MethodCall, _ body: @escaping (Client, DBusValue) throws(BusError) -> Void
    ) {
        let interface = "org.freedesktop.DBus.ObjectManager"
        let reading = self.call(path, interface, "GetManagedObjects") { [weak self] result in
            guard let self else { return }
            registered(path)
            do throws(BusError) {
                guard case .success(let values) = result, let objects = values.first else {
                    throw .failed("No object received")
                }
                try body(self, objects)
            } catch {
                call.fail(error)
            }
        }
        begin(path, reading)
    }
}
