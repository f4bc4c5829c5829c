#pragma once
// What is in it is Swift: the module of this name.
