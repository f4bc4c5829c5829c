import BluetoothLE
import Foundation

/// A central that has had to do with our services: what it is subscribed to, and what is on its way to it.
///
/// Each has a line of its own, so that one that leaves an indication unconfirmed holds up nobody else.
@BluetoothEngine
final class CentralLink {
    let connection: Connection
    let identifier: UUID
    /// The longest value of an update: ATT_MTU less 3 octets.
    private(set) var length = 20
    var subscribers: [AttributeHandle: Subscriber] = [:]
    private let line = WorkQueue()
    /// What the central is to be asked for when it has answered what it was asked before.
    private var wantedParameters: ConnectionParameters?
    private var isAsking = false
    private var watch: Task<Void, Never>?

    init(_ connection: Connection, _ identifier: UUID) {
        self.connection = connection
        self.identifier = identifier
    }

    deinit {
        watch?.cancel()
    }

    /// Follows the link's ATT_MTU.
    ///
    /// - Parameter whenChanged: is told of each change but the first.
    /// - Returns: false where the link has ended.
    func watchLength(whenChanged: @escaping @BluetoothEngine (Int) -> Void) async -> Bool {
        guard let session = try? await connection.openSession() else { return false }
        if let mtu = try? await connection.mtu { length = mtu - 3 }
        watch = Task { [weak self] in
            do {
                for try await case .mtuChanged(let mtu) in session.events {
                    self?.length = mtu - 3
                    whenChanged(mtu - 3)
                }
            } catch {
                // The link has ended: told by what becomes of its subscriptions.
            }
        }
        return true
    }

    /// Asks the central for other connection parameters; where several are wanted while it has not answered, for the last.
    func ask(for parameters: ConnectionParameters) {
        wantedParameters = parameters
        guard !isAsking else { return }
        isAsking = true
        Task {
            while let parameters = wantedParameters {
                wantedParameters = nil
                // It may refuse, or have gone.
                try? await connection.updateParameters(parameters)
            }
            isAsking = false
        }
    }

    /// Sends a value after those before it.
    func send(_ update: Update, at handle: AttributeHandle, whenSent: @escaping @BluetoothEngine () -> Void) {
        line.add { [self] in
            if let subscriber = subscribers[handle] { await send(update, to: subscriber) }
            whenSent()
        }
    }

    private func send(_ update: Update, to subscriber: Subscriber) async {
        let value = Array(update.value.prefix(length))
        do throws(BluetoothError) {
            guard update.isNotification else { return try await subscriber.indicate(value) }
            do throws(BluetoothError) {
                try await subscriber.notify(value)
            } catch {
                // It may have asked for indications, where the characteristic offers both.
                guard error == .host(.server(.notSubscribed(subscriber.characteristic))) else { throw error }
                try await subscriber.indicate(value)
            }
        } catch {
            // It has left, or does not want values any more: told by the end of its subscription.
        }
    }
}
