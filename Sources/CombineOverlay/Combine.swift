#if Combine
// Re-exports OpenCombine, a reimplementation of Apple's Combine, under the name of Apple's module. Files with
// `import Combine` compile unchanged, including `ObservableObject`, `@Published`, `sink` and
// `receive(on: DispatchQueue.main)`.
//
// OpenCombineShim is not used, because it imports any module named `Combine` that it finds.
@_exported import OpenCombine
@_exported import OpenCombineDispatch
@_exported import OpenCombineFoundation
#endif
