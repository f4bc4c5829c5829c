import BluetoothATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothTrace

extension PacketDescription {
    /// Adds the contents of the packet to `object`, under the names of the corresponding Swift properties.
    func add(to object: inout JSONObject) {
        object.add("type", packetType)
        object.add("command", command) { object, command in
            object.add("opcode", command.opcode.rawValue)
            object.add("parameterLength", command.parameterLength)
            object.add("connectionHandles", command.connectionHandles.map(\.rawValue))
            object.add("keyOwner", command.keyOwner)
        }
        object.add("event", event) { object, event in
            object.add("code", event.code.rawValue)
            object.add("parameterLength", event.parameterLength)
            object.add("subeventCode", event.subeventCode?.rawValue)
            object.add("commandOpcode", event.commandOpcode?.rawValue)
            object.add("connectionHandles", event.connectionHandles.map(\.rawValue))
        }
        object.add("acl", aclData) { object, acl in
            object.add("connectionHandle", acl.connectionHandle.rawValue)
            object.add("boundary", acl.boundary.rawValue)
            object.add("broadcast", acl.broadcast)
            object.add("dataLength", acl.dataLength)
        }
        object.add("l2cap", frame) { object, frame in
            object.add("length", frame.length)
            object.add("channel", frame.channel.rawValue)
            object.add("isComplete", frame.isComplete)
        }
        object.add("signalling", signalling) { object, command in
            object.add("code", command.code)
            object.add("identifier", command.identifier)
            object.add("length", command.length)
        }
        object.add("att", attribute) { object, pdu in pdu.add(to: &object) }
        object.add("smp", securityManager) { object, pdu in object.add("code", pdu.code) }
        object.add("malformed", malformation)
        object.add("text", text)
    }
}

extension PacketDescription.Attribute {
    fileprivate func add(to object: inout JSONObject) {
        object.add("opcode", opcode)
        object.add("startingHandle", startingHandle?.rawValue)
        object.add("endingHandle", endingHandle?.rawValue)
        object.add("handles", handles.map(\.rawValue))
        object.add("groupEndHandles", groupEndHandles.map(\.rawValue))
        object.add("offset", offset)
        object.add("rxMTU", rxMTU)
        object.add("elementLength", elementLength)
        object.add("valueLengths", valueLengths)
        object.add("error", error) { object, error in
            object.add("requestOpcode", error.requestOpcode)
            object.add("handle", error.handle.rawValue)
            object.add("code", error.code.rawValue)
        }
    }
}
