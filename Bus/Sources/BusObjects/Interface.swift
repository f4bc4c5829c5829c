import DBus

/// The declaration of an interface: its methods and properties, with their behavior.
///
/// Dispatching, property access and the XML description all read this declaration, so they agree.
package struct Interface<Object: AnyObject>: Sendable {
    let declaration: InterfaceDeclaration

    package init(_ name: String, methods: [Method<Object>] = [], properties: [Property<Object>] = []) {
        declaration = InterfaceDeclaration(
            name, methods: methods.map(\.declaration), properties: properties.map(\.declaration))
    }

    package var name: String { declaration.name }
}

/// A named argument of a method.
package struct Argument: Sendable {
    package let name: String
    package let signature: String

    package init(_ name: String, _ signature: String) {
        self.name = name
        self.signature = signature
    }
}

/// A method of an interface.
package struct Method<Object: AnyObject>: Sendable {
    let declaration: MethodDeclaration

    /// Declares a method.
    ///
    /// - Parameter perform: performs the call, and answers it now or later. Throwing answers it with the error.
    package init(
        _ name: String, _ inputs: [Argument] = [], returns outputs: [Argument] = [],
        perform: @escaping @Sendable (Object, MethodCall) throws(BusError) -> Void
    ) {
        declaration = MethodDeclaration(name: name, inputs: inputs, outputs: outputs) { object, call throws(BusError) in
            try perform(unsafeDowncast(object, to: Object.self), call)
        }
    }
}

/// A property of an interface.
package struct Property<Object: AnyObject>: Sendable {
    let declaration: PropertyDeclaration

    /// Declares a property.
    ///
    /// - Parameters:
    ///   - read: returns the current value; nil if the object does not have the property now.
    ///   - write: changes the value, and answers the call now or later; nil for a property that clients cannot change.
    package init(
        _ name: String, _ signature: String, read: @escaping @Sendable (Object) -> DBusValue?,
        write: (@Sendable (Object, DBusValue, MethodCall) throws(BusError) -> Void)? = nil
    ) {
        var erased: PropertyDeclaration.Write?
        if let write {
            erased = { object, value, call throws(BusError) in
                try write(unsafeDowncast(object, to: Object.self), value, call)
            }
        }
        declaration = PropertyDeclaration(
            name: name, signature: signature, content: .value { read(unsafeDowncast($0, to: Object.self)) },
            write: erased)
    }

    /// Declares a property whose value goes directly into messages, because it changes often.
    ///
    /// - Parameters:
    ///   - isPresent: whether the object has the property now.
    ///   - append: appends the current value, which has the property's signature.
    package init(
        _ name: String, _ signature: String, isPresent: @escaping @Sendable (Object) -> Bool,
        append: @escaping @Sendable (Object, any ValueWriter) throws(BusFailure) -> Void
    ) {
        declaration = PropertyDeclaration(
            name: name, signature: signature,
            content: .appended(
                isPresent: { isPresent(unsafeDowncast($0, to: Object.self)) },
                { object, message throws(BusFailure) in try append(unsafeDowncast(object, to: Object.self), message) }),
            write: nil)
    }
}

// MARK: - Declarations

/// An `Interface` without the type of its objects, so that the code for all objects is not generic.
final class InterfaceDeclaration: Sendable {
    let name: String
    let methods: [MethodDeclaration]
    let properties: [PropertyDeclaration]
    private let propertyIndices: [String: Int]

    init(_ name: String, methods: [MethodDeclaration], properties: [PropertyDeclaration]) {
        self.name = name
        self.methods = methods
        self.properties = properties
        propertyIndices = Dictionary(uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
    }

    func indexOfProperty(_ name: String) -> Int? { propertyIndices[name] }
}

/// A `Method` without the type of its object.
struct MethodDeclaration: Sendable {
    let name: String
    let inputs: [Argument]
    let outputs: [Argument]
    let perform: @Sendable (AnyObject, MethodCall) throws(BusError) -> Void

    var inputSignature: String { inputs.map(\.signature).joined() }
}

/// A `Property` without the type of its object.
struct PropertyDeclaration: Sendable {
    /// How the value gets into a message.
    enum Content: Sendable {
        case value(@Sendable (AnyObject) -> DBusValue?)
        case appended(
            isPresent: @Sendable (AnyObject) -> Bool, @Sendable (AnyObject, any ValueWriter) throws(BusFailure) -> Void)
    }

    typealias Write = @Sendable (AnyObject, DBusValue, MethodCall) throws(BusError) -> Void

    let name: String
    let signature: String
    let content: Content
    let write: Write?

    func isPresent(_ object: AnyObject) -> Bool {
        switch content {
        case .value(let read): read(object) != nil
        case .appended(let isPresent, _): isPresent(object)
        }
    }
}
