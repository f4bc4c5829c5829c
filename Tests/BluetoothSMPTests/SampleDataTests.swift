import BluetoothSMP
import Testing
