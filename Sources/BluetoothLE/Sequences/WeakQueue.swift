/// A queue that lives only as long as somebody may take from it.
struct WeakQueue<Element: Sendable> {
    weak var queue: AsyncQueue<Element>?
}
