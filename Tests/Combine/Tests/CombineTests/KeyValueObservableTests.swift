import Combine
import Foundation
import BluetoothObserving
import Testing

@Suite("Key-value observing as a publisher")
struct KeyValueObservableTests {
    /// The values a subscriber received, as text.
    private final class Lines {
        var lines: [String] = []

        func attach<P: Publisher>(_ publisher: P) -> AnyCancellable {
            publisher.sink(
                receiveCompletion: { _ in self.lines.append("finished") }, receiveValue: { self.lines.append("\($0)") })
        }
    }

    private final class Lamp: NSObject, KeyValueObservable {
        let _observers = KeyValueObservers()
        var isOn = false {
            didSet { _observers.changed() }
        }
    }

    @Test("An observable property publishes its value and each change")
    func property() {
        let (lamp, received) = (Lamp(), Lines())
        var subscription: AnyCancellable? = received.attach(lamp.publisher(for: \.isOn))
        lamp.isOn = true
        lamp.isOn = true
        lamp.isOn = false
        #expect(received.lines == ["false", "true", "false"])
        withExtendedLifetime(subscription) {}
        subscription = nil
        lamp.isOn = true
        #expect(received.lines.count == 3)
        let changes = Lines()
        let other = changes.attach(lamp.publisher(for: \.isOn, options: .new).prefix(1))
        lamp.isOn = false
        #expect(changes.lines == ["false", "finished"])
        lamp.isOn = true
        #expect(changes.lines.count == 2)
        other.cancel()
    }
}
