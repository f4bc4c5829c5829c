#if Combine
import Foundation
import OpenCombine
import OpenCombineFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// All of OpenCombine's publishers also conform to this protocol. The compiler prefers an operator declared on it to
// OpenCombine's operator of the same name. This is how the module replaces operators that behave differently from
// Combine's, such as `prefix(_:)`.

/// A type that publishes elements over time.
public protocol Publisher<Output, Failure>: OpenCombine.Publisher {}

/// A publisher that an application sends elements through.
public protocol Subject<Output, Failure>: OpenCombine.Subject, Publisher {}

/// A publisher that starts to publish when `connect()` is called.
public protocol ConnectablePublisher<Output, Failure>: OpenCombine.ConnectablePublisher, Publisher {}

extension AnyPublisher: Publisher {}
extension CurrentValueSubject: Subject {}
extension Deferred: Publisher {}
extension Empty: Publisher {}
extension Fail: Publisher {}
extension Future: Publisher {}
extension Just: Publisher {}
extension ObservableObjectPublisher: Publisher {}
extension Optional.OCombine.Publisher: Publisher {}
extension PassthroughSubject: Subject {}
extension Published.Publisher: Publisher {}
extension Record: Publisher {}
extension Result.OCombine.Publisher: Publisher {}
extension NotificationCenter.Publisher: Publisher {}
extension Timer.TimerPublisher: ConnectablePublisher {}
extension URLSession.DataTaskPublisher: Publisher {}
extension Publishers.AllSatisfy: Publisher {}
extension Publishers.AssertNoFailure: Publisher {}
extension Publishers.Autoconnect: Publisher {}
extension Publishers.Breakpoint: Publisher {}
extension Publishers.Buffer: Publisher {}
extension Publishers.Catch: Publisher {}
extension Publishers.Collect: Publisher {}
extension Publishers.CollectByCount: Publisher {}
extension Publishers.CompactMap: Publisher {}
extension Publishers.Comparison: Publisher {}
extension Publishers.Concatenate: Publisher {}
extension Publishers.Contains: Publisher {}
extension Publishers.ContainsWhere: Publisher {}
extension Publishers.Count: Publisher {}
extension Publishers.Debounce: Publisher {}
extension Publishers.Decode: Publisher {}
extension Publishers.Delay: Publisher {}
extension Publishers.Drop: Publisher {}
extension Publishers.DropUntilOutput: Publisher {}
extension Publishers.DropWhile: Publisher {}
extension Publishers.Encode: Publisher {}
extension Publishers.Filter: Publisher {}
extension Publishers.First: Publisher {}
extension Publishers.FirstWhere: Publisher {}
extension Publishers.FlatMap: Publisher {}
extension Publishers.HandleEvents: Publisher {}
extension Publishers.IgnoreOutput: Publisher {}
extension Publishers.Last: Publisher {}
extension Publishers.LastWhere: Publisher {}
extension Publishers.MakeConnectable: ConnectablePublisher {}
extension Publishers.Map: Publisher {}
extension Publishers.MapError: Publisher {}
extension Publishers.MapKeyPath: Publisher {}
extension Publishers.MapKeyPath2: Publisher {}
extension Publishers.MapKeyPath3: Publisher {}
extension Publishers.MeasureInterval: Publisher {}
extension Publishers.Multicast: ConnectablePublisher {}
extension Publishers.Output: Publisher {}
extension Publishers.PrefixUntilOutput: Publisher {}
extension Publishers.PrefixWhile: Publisher {}
extension Publishers.Print: Publisher {}
extension Publishers.ReceiveOn: Publisher {}
extension Publishers.Reduce: Publisher {}
extension Publishers.RemoveDuplicates: Publisher {}
extension Publishers.ReplaceEmpty: Publisher {}
extension Publishers.ReplaceError: Publisher {}
extension Publishers.Retry: Publisher {}
extension Publishers.Scan: Publisher {}
extension Publishers.Sequence: Publisher {}
extension Publishers.SetFailureType: Publisher {}
extension Publishers.Share: Publisher {}
extension Publishers.SubscribeOn: Publisher {}
extension Publishers.SwitchToLatest: Publisher {}
extension Publishers.Throttle: Publisher {}
extension Publishers.Timeout: Publisher {}
extension Publishers.TryAllSatisfy: Publisher {}
extension Publishers.TryCatch: Publisher {}
extension Publishers.TryCompactMap: Publisher {}
extension Publishers.TryComparison: Publisher {}
extension Publishers.TryContainsWhere: Publisher {}
extension Publishers.TryDropWhile: Publisher {}
extension Publishers.TryFilter: Publisher {}
extension Publishers.TryFirstWhere: Publisher {}
extension Publishers.TryLastWhere: Publisher {}
extension Publishers.TryMap: Publisher {}
extension Publishers.TryPrefixWhile: Publisher {}
extension Publishers.TryReduce: Publisher {}
extension Publishers.TryRemoveDuplicates: Publisher {}
extension Publishers.TryScan: Publisher {}
extension Publishers.Zip: Publisher {}
extension Publishers.Zip3: Publisher {}
extension Publishers.Zip4: Publisher {}
#endif
