/// Where it is told what peers do with an attribute.
struct EventReceiver {
    weak var queue: AsyncQueue<CharacteristicEvent>?
    /// Whether others tell there too, so that it goes on when this attribute is gone.
    let isShared: Bool
}
