#if Combine
import BluetoothObserving
import OpenCombine

extension KeyValueObservable {
    /// Publishes the value of a property whenever it changes. If `options` contains `.initial`, the current value is
    /// published first.
    public func publisher<Value>(
        for keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> AnyPublisher<Value, Never> {
        Deferred { [self] () -> AnyPublisher<Value, Never> in
            let subject = PassthroughSubject<Value, Never>()
            let first = options.contains(.initial) ? [self[keyPath: keyPath]] : []
            let observation = observe(keyPath) { object, _ in subject.send(object[keyPath: keyPath]) }
            return first.publisher.append(subject.handleEvents(receiveCancel: { observation.invalidate() }))
                .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
}
#endif
