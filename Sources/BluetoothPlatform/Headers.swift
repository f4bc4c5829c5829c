// Imported here, and not only above, so that the line below is the last thing that a build without the headers prints.
import CBluetoothHCI
// If this module cannot be built, install the headers of libbluetooth: sudo apt install libbluetooth-dev
