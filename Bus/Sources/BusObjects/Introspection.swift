import DBus

extension ObjectTree {
    private static let preamble = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    private static let introspectable = """
        <interface name="org.freedesktop.DBus.Introspectable"><method name="Introspect"><arg name="xml" type="s" \
        direction="out"/></method></interface>
        """

    private static let properties = """
        <interface name="org.freedesktop.DBus.Properties">\
        <method name="Get"><arg name="interface" type="s" direction="in"/><arg name="name" type="s" direction="in"/>\
        <arg name="value" type="v" direction="out"/></method>\
        <method name="Set"><arg name="interface" type="s" direction="in"/><arg name="name" type="s" direction="in"/>\
        <arg name="value" type="v" direction="in"/></method>\
        <method name="GetAll"><arg name="interface" type="s" direction="in"/>\
        <arg name="properties" type="a{sv}" direction="out"/></method>\
        <signal name="PropertiesChanged"><arg name="interface" type="s"/>\
        <arg name="changed_properties" type="a{sv}"/><arg name="invalidated_properties" type="as"/></signal>\
        </interface>
        """

    private static let objectManager = """
        <interface name="org.freedesktop.DBus.ObjectManager">\
        <method name="GetManagedObjects"><arg name="objects" type="a{oa{sa{sv}}}" direction="out"/></method>\
        <signal name="InterfacesAdded"><arg name="object" type="o"/><arg name="interfaces" type="a{sa{sv}}"/></signal>\
        <signal name="InterfacesRemoved"><arg name="object" type="o"/><arg name="interfaces" type="as"/></signal>\
        </interface>
        """

    /// The XML description of an object and the names of the objects below it.
    func introspection(of node: Node) -> String {
        var xml = Self.preamble + "<node>" + Self.introspectable
        if node.path == .root { xml += Self.objectManager }
        for export in node.exports { xml += Self.description(of: export) }
        if !node.exports.isEmpty { xml += Self.properties }
        for child in node.children.sorted(by: { $0.description < $1.description }) {
            xml += "<node name=\"\(child.lastElement)\"/>"
        }
        return xml + "</node>"
    }

    private static func description(of export: Export) -> String {
        var xml = "<interface name=\"\(export.name)\">"
        for method in export.declaration.methods {
            xml += "<method name=\"\(method.name)\">"
            for argument in method.inputs { xml += description(of: argument, "in") }
            for argument in method.outputs { xml += description(of: argument, "out") }
            xml += "</method>"
        }
        // Like BlueZ, this describes only the properties that the object has.
        for property in export.presentProperties {
            let access = property.write == nil ? "read" : "readwrite"
            xml += "<property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"\(access)\"/>"
        }
        return xml + "</interface>"
    }

    private static func description(of argument: Argument, _ direction: String) -> String {
        "<arg name=\"\(argument.name)\" type=\"\(argument.signature)\" direction=\"\(direction)\"/>"
    }
}
