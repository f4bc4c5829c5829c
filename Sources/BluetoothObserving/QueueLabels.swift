// The names are those of Apple's headers.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Dispatch
import Foundation

/// The C function of libdispatch, whose declaration is not visible to Swift on Linux. Nil stands for the current queue.
@_silgen_name("dispatch_queue_get_label")
private func currentQueueLabel(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>

/// The label of a queue, or of the current one.
///
/// Apple's SDKs declare this function. Code uses it to find out whether it runs on a queue.
public func __dispatch_queue_get_label(_ queue: DispatchQueue?) -> UnsafePointer<CChar> {
    guard let queue else { return currentQueueLabel(nil) }
    return QueueLabels.shared.label(queue.label)
}

/// Labels as C strings, which live as long as the program: one for each distinct label.
private final class QueueLabels: @unchecked Sendable {
    // Unchecked: the lock protects the table.
    static let shared = QueueLabels()
    private let lock = NSLock()
    private var labels: [String: UnsafePointer<CChar>] = [:]

    func label(_ text: String) -> UnsafePointer<CChar> {
        lock.withLock {
            if let known = labels[text] { return known }
            let octets = text.utf8CString
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: octets.count)
            for (index, octet) in octets.enumerated() { copy[index] = octet }
            labels[text] = UnsafePointer(copy)
            return UnsafePointer(copy)
        }
    }
}
