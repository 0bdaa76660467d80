"""What the notebooks import: the device they run on; drawings and widgets in submodules."""

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
